-- End one claim, granted or waiting, and offer the resource to those who wait. The token `*` ends all that are granted.
--
-- KEYS: holders, details, queue. ARGV: token, 1 if PUBLISH counts all listeners.
-- Returns how many were ended; 0 if the claim was not there and nobody holds the resource, -1 if another does.

local token, counts = ARGV[1], ARGV[2] == '1'
local now = now_us()
purge(now)

local ended = 0
if token == '*' then
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    redis.call('HDEL', KEYS[2], member)
    ended = ended + redis.call('ZREM', KEYS[1], member)
  end
else
  leave(token)
  for _, member in ipairs({'x' .. token, 's' .. token}) do
    ended = ended + redis.call('ZREM', KEYS[1], member)
    redis.call('HDEL', KEYS[2], member)
  end
end

local others = redis.call('ZCARD', KEYS[1]) > 0
serve(now, counts)
if ended == 0 and others then
  return -1
end
return ended
