-- Release a lock: delete it if it is still the caller's, so that nobody releases what another took after the lease ended.
-- KEYS[1]  the lock
-- ARGV[1]  the caller's token
-- Returns 1 when it was released, 0 when it was no longer the caller's.
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
