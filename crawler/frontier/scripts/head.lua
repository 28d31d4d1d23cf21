-- Stands in front of every script, behind the places of fields (member.py). KEYS[1] is the prefix "{crawl.shard}:" of all keys of the shard: one hash tag, one slot.
-- ARGV: 1 now (ms)  2 delay (ms)  3 concurrency  4 latency factor; the script's own arguments start at 5.
-- A script is read anew by every call of it: what only the unusual case needs stands in common.lua, which the busiest
-- scripts do not run unless they must.
local call, num, byte, match, find, sub = redis.call, tonumber, string.byte, string.match, string.find, string.sub
local ARGV, unpack, ipairs = ARGV, unpack, ipairs  -- globals are looked up by name at every use
local P = KEYS[1]
local now, DELAY, LIMIT, FACTOR = num(ARGV[1]), num(ARGV[2]), num(ARGV[3]), num(ARGV[4])
local READY, NEXT, BUSY, LEASES, LEASE = P .. 'ready', P .. 'next', P .. 'busy', P .. 'leases', P .. 'lease'
local LATER, HELD, WHY, ST, WAIT, QUEUE = P .. 'later', P .. 'held', P .. 'why', P .. 'st', P .. 'blocked', P .. 'q:'
local PREFERRED = P .. 'preferred'  -- ZSET scope -> priority; st.preferred says how many there are
local SUSPECTS, ALONE = P .. 'suspects', P .. 'alone'  -- suspects.lua
local SLOTS = 1024  -- common.lua says what for

local function integer(n) return string.format('%.0f', n) end

-- A small hash or sorted set is a list that every look-up walks from its start. What is asked about by the thousand is
-- made a table when it is made: an entry too long for a list converts it, and it stays converted when that goes again.
local function plain(key, add, _, ...) call(add, key, ...) end
local function wide(key, add, remove, ...)
  if call('EXISTS', key) == 1 then return plain(key, add, remove, ...) end
  local long = string.rep(' ', 1025)  -- zset-max-listpack-value and hash-max-listpack-value of our own server are 1,024
  call(add, key, 0, long)
  call(add, key, ...)
  call(remove, key, add == 'HSET' and 0 or long)
end
local function hset(key, ...) wide(key, 'HSET', 'HDEL', ...) end

-- What only some scopes have: a delay of its own, one it asked for by 429/503 (slow), a circuit breaker, URLs in its
-- overflow (spilled). Most calls find none of them.
local SPECIAL, extras = {P .. 'delay', P .. 'slow', P .. 'breaker', P .. 'spilled'}, nil
local OWN, SLOW, BREAKER, SPILLED = unpack(SPECIAL)
local function any_special()
  if not extras then
    local left = call('EXISTS', OWN, SLOW, BREAKER, SPILLED)
    extras = {any = left > 0}
    for i = 4, 1, -1 do
      local there = left > 0 and (left == i or call('EXISTS', SPECIAL[i]) == 1)
      extras[SPECIAL[i]] = there
      if there then left = left - 1 end
    end
  end
  return extras.any
end
local function special(key, names)
  return any_special() and extras[key] and call('HMGET', key, unpack(names)) or {}
end
-- Which of these scopes have something to say about their requests, by their places.
local function marks_of(names)
  local marks = {}
  for k = 1, any_special() and 3 or 0 do
    for i, record in ipairs(special(SPECIAL[k], names)) do
      if record then marks[i] = true end
    end
  end
  return marks
end

-- leases: wire slot scope \t member \t score. wire: o = a request may be under way, c = over, d = no try left.
-- These read its front, which is all that most calls need.
local function scope_of(payload)
  local cut = find(payload, '\t', SCOPE_AT, true)
  return sub(payload, SCOPE_AT, cut - 1), cut + 1
end
local function slot_of(payload) return num(sub(payload, SLOT_AT, SCOPE_AT - 1)) end
local function forget(tokens)
  if #tokens == 0 then return end
  call('HDEL', LEASE, unpack(tokens))
  call('ZREM', LEASES, unpack(tokens))
end
