-- What acquire.lua and release.lua share: one resource that is given first come, first served.
--
-- A member of `holders` is the flag of its claim (x: exclusive, s: shared) and its token; its score is the microsecond
-- at which it ends. `details` has one field per member ([fence, since, owner]) and one per waiter ("w" and
-- its token). `queue` has the tokens of those who wait, by ticket.

-- A waiter that is told has this long to take what it was offered. Longer than a busy process needs to answer, and
-- short enough to wait for one that died in this very moment.
local OFFER_US = 500000
-- A waiter asks again this often, whatever it is told...
local RECHECK_US = 2000000
-- ...and one that has not asked for so long is dead.
local WAITER_US = 6000000

local function hold(member, detail, until_us)
  redis.call('ZADD', KEYS[1], whole(until_us), member)
  redis.call('HSET', KEYS[2], member, detail)
  outlive(KEYS[1], until_us)
  outlive(KEYS[2], until_us)
end

local function purge(now)
  local ended = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(now))
  for _, member in ipairs(ended) do
    redis.call('HDEL', KEYS[2], member)
    redis.call('ZREM', KEYS[1], member)
  end
end

local function room(flag, limit)
  local held = redis.call('ZCARD', KEYS[1])
  if held == 0 then
    return true
  end
  if flag == 'x' or string.sub(redis.call('ZRANGE', KEYS[1], 0, 0)[1], 1, 1) == 'x' then
    return false
  end
  return held < limit
end

-- Return when the first lease ends.
local function first_end(now)
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return tonumber(first[2]) or now
end

-- A waiter's record: until, known, flag, limit, channel, since, owner; times in microseconds.
local function waiter(token)
  local record = redis.call('HGET', KEYS[2], 'w' .. token)
  return record and cjson.decode(record)
end

local function remember(token, record)
  redis.call('HSET', KEYS[2], 'w' .. token, cjson.encode(record))
  outlive(KEYS[2], record[1])
end

local function leave(token)
  redis.call('HDEL', KEYS[2], 'w' .. token)
  return redis.call('ZREM', KEYS[3], token)
end

-- Return who is first of those who still wait.
local function head(now)
  while true do
    local token = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
    if not token then
      return nil
    end
    local record = waiter(token)
    if record and tonumber(record[1]) > now then
      return token, record
    end
    leave(token)
  end
end

-- Tell a waiter; false if it is certain that nobody listens. In a Cluster the count is of one node alone.
local function tell(record, message, counts)
  if record[5] == '' then
    return true
  end
  return redis.call('PUBLISH', record[5], message) > 0 or not counts
end

-- Offer what is free to those who are first, then tell the next one when it ends if it expects that to be later.
local function serve(now, counts)
  local token, record = head(now)
  while token and room(record[3], tonumber(record[4])) do
    leave(token)
    if tell(record, token, counts) then
      hold(record[3] .. token, cjson.encode({'', whole(now), record[7]}), now + OFFER_US)
    end
    token, record = head(now)
  end
  if not token then
    return
  end
  local ends = first_end(now)
  if ends > now and ends < tonumber(record[2]) then
    record[2] = whole(ends)
    remember(token, record)
    tell(record, token .. ' ' .. whole(math.ceil((ends - now) / 1000)), false)
  end
end
