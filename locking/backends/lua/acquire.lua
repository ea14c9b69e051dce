-- Grant one claim, or let it stand in line, or turn it away. Asked again with the same token it answers the same: a
-- granted claim keeps its fence and its lease begins anew.
--
-- Fences are a hybrid logical clock (Kulkarni and others, "Logical Physical Clocks", 2014): the greater of the last one
-- plus one and the server's time in microseconds. The stored one is kept until that time has passed, so a forgotten
-- fence is always in the past: they rise without one key per name that lives for ever.
--
-- KEYS: holders, details, queue, fence.
-- ARGV: token, flag, limit, lease in ms, wait in ms, channel of the waiter, owner, 1 if PUBLISH counts all listeners.
-- Returns the fence as text, or as a number the microseconds until the claim should ask again.

local token, flag, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local ttl_us, wait_us, counts = tonumber(ARGV[4]) * 1000, tonumber(ARGV[5]) * 1000, ARGV[8] == '1'
local member = flag .. token
local now = now_us()

local function mint()
  local fence = math.max((tonumber(redis.call('GET', KEYS[4])) or 0) + 1, now)
  redis.call('SET', KEYS[4], whole(fence), 'PXAT', whole(math.ceil(fence / 1000) + 1000))
  return whole(fence)
end

local function take()
  local fence = mint()
  hold(member, cjson.encode({fence, whole(now), ARGV[7]}), now + ttl_us)
  return fence
end

purge(now)

local detail = redis.call('HGET', KEYS[2], member)
if detail then
  local fence = cjson.decode(detail)[1]
  if fence == '' then
    fence = take()
  else
    hold(member, detail, now + ttl_us)
  end
  serve(now, counts)
  return fence
end

local first = head(now)
if (not first or first == token) and room(flag, limit) then
  leave(token)
  local fence = take()
  serve(now, counts)
  return fence
end

if wait_us <= 0 then
  leave(token)
  serve(now, counts)
else
  local record = waiter(token)
  local deadline, since = now + wait_us, record and record[6] or whole(now)
  if not record then
    local last = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')
    redis.call('ZADD', KEYS[3], (tonumber(last[2]) or 0) + 1, token)
  end
  local ends = math.min(now + WAITER_US, deadline + OFFER_US)
  local known = math.min(now + RECHECK_US, first_end(now))
  remember(token, {whole(ends), whole(known), flag, limit, ARGV[6], since, ARGV[7]})
  outlive(KEYS[3], ends)
  serve(now, counts)
  -- What was free is offered to the first, who may be the one that asks.
  if redis.call('HEXISTS', KEYS[2], member) == 1 then
    return take()
  end
end

return math.max(1000, math.min(first_end(now) - now, RECHECK_US))
