-- Count a call against one or more rates, exactly: of any stretch of time as long as a rate's window, no more calls go
-- on than the rate says (a sliding log). All rates are looked at before any is counted: a call that one of them refuses
-- counts against none, so a refused caller loses nothing and a steady one gets his full rate. The clock is the server's.
-- KEYS[n]      the log of caller n: the times in microseconds of his latest calls, the newest last, at most `calls` of
--              them; it expires one window after the last call
-- ARGV[2n-1]   calls of rate n
-- ARGV[2n]     its window in microseconds
-- Returns 0 for a call that goes on, else the microseconds until one may.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local wait = 0
for n, log in ipairs(KEYS) do
    local calls, window = ARGV[2 * n - 1], tonumber(ARGV[2 * n])
    local oldest = tonumber(redis.call('LINDEX', log, '-' .. calls) or '-inf')
    -- The minimum is for a clock that was set back.
    wait = math.max(wait, math.min(oldest + window - now, window))
end
if wait > 0 then
    return wait
end
for n, log in ipairs(KEYS) do
    local calls, window = ARGV[2 * n - 1], tonumber(ARGV[2 * n])
    redis.call('RPUSH', log, string.format('%.0f', now))
    redis.call('LTRIM', log, '-' .. calls, -1)
    redis.call('PEXPIRE', log, math.ceil(window / 1000))
end
return 0
