-- Count a call against a rate, by the generic cell rate algorithm (ITU-T I.371): one number per caller, no window to
-- reset. A burst of the whole limit is allowed at once, and a steady caller gets exactly the rate; a refused call does
-- not count.
-- KEYS[1]  the caller; holds the time at which his calls will have been worked off, in microseconds
-- ARGV[1]  microseconds that one call takes
-- ARGV[2]  microseconds of calls that may stand at once
-- Returns 0 for a call that may go on, else the microseconds until the next one may.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local free_at = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + tonumber(ARGV[1])
local early = free_at - now - tonumber(ARGV[2])
if early > 0 then
    return early
end
redis.call('SET', KEYS[1], string.format('%.0f', free_at), 'PX', math.ceil((free_at - now) / 1000) + 1)
return 0
