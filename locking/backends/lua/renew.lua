-- Let many leases last longer, each only while it is still its holder's: one that has ended is never brought back.
--
-- KEYS: holders and details of each lease. ARGV: member and lease in ms of each; 0 ms only looks.
-- Returns for each 1 if it is held, 0 if it has ended, -1 if another holds the resource.

local standings = {}
local now = now_us()

for index = 1, #KEYS, 2 do
  local holders, member, ttl_us = KEYS[index], ARGV[index], tonumber(ARGV[index + 1]) * 1000
  local ends = tonumber(redis.call('ZSCORE', holders, member))
  local standing = 1
  if not ends or ends <= now then
    standing = redis.call('ZCOUNT', holders, '(' .. whole(now), '+inf') > 0 and -1 or 0
  elseif ttl_us > 0 then
    redis.call('ZADD', holders, 'XX', whole(now + ttl_us), member)
    outlive(holders, now + ttl_us)
    outlive(KEYS[index + 1], now + ttl_us)
  end
  standings[#standings + 1] = standing
end
return standings
