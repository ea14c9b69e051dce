-- What all scripts share: the server's time in microseconds, numbers as text, and how long a key lives.

local function now_us()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- Numbers this large lose digits in Lua's own conversion.
local function whole(number)
  return string.format('%.0f', number)
end

local function outlive(key, until_us)
  local until_ms = math.ceil(until_us / 1000)
  if redis.call('PTTL', key) == -1 then
    redis.call('PEXPIREAT', key, whole(until_ms))
  else
    redis.call('PEXPIREAT', key, whole(until_ms), 'GT')
  end
end
