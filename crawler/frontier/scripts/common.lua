-- Shared by every script. KEYS[1] is the prefix "{crawl.shard}:" of all keys of the shard: one hash tag, one slot.
-- ARGV: 1 now (ms)  2 delay (ms)  3 concurrency  4 latency factor; the script's own arguments start at 5.
local call, num = redis.call, tonumber
local P = KEYS[1]
local now, DELAY, LIMIT, FACTOR = num(ARGV[1]), num(ARGV[2]), num(ARGV[3]), num(ARGV[4])
local READY, NEXT, BUSY, LEASES, LEASE = P .. 'ready', P .. 'next', P .. 'busy', P .. 'leases', P .. 'lease'
local LATER, HELD, WHY, DEAD, ST = P .. 'later', P .. 'held', P .. 'why', P .. 'dead', P .. 'st'
local WAIT, PURGED = P .. 'blocked', P .. 'purged'

local delta = {}  -- counters are written once, at the end
local function count(name, n) delta[name] = (delta[name] or 0) + n end
local function flush()
  for name, n in pairs(delta) do
    if n ~= 0 then call('HINCRBY', ST, name, n) end
  end
end
local function stat(name) return num(call('HGET', ST, name) or 0) end

local function queue(scope) return P .. 'q:' .. scope end
local function delay_of(scope)
  local own = num(call('HGET', P .. 'delay', scope) or 0)
  return own > DELAY and own or DELAY
end
local function next_of(scope) return num(call('ZSCORE', NEXT, scope) or 0) end
local function not_before(scope, at)
  if at > now then call('ZADD', NEXT, 'GT', at, scope) end
end

-- ready holds a scope exactly while its queue is not empty and it is below its concurrency limit; score = when.
local function refresh(scope)
  if num(call('HGET', BUSY, scope) or 0) >= LIMIT or call('EXISTS', queue(scope)) == 0 then
    call('ZREM', READY, scope)
    return
  end
  local due, since = next_of(scope), num(call('ZSCORE', READY, scope) or now)
  call('ZADD', READY, due > since and due or since, scope)
end

-- A member may carry "attempts.holds~" in front of what Python packed.
local function split(member)
  if string.byte(member) < 58 then
    local a, h, rest = string.match(member, '^(%d+)%.(%d+)~(.*)$')
    return num(a), num(h), rest
  end
  return 0, 0, member
end
local function join(attempts, holds, rest)
  if attempts == 0 and holds == 0 then return rest end
  return attempts .. '.' .. holds .. '~' .. rest
end
local function because(scope, rest, reason)
  if reason == '' then return end
  local key = scope .. '\t' .. rest
  local before = call('HGET', WHY, key)
  local all = before and (before .. '\n' .. reason) or reason
  call('HSET', WHY, key, string.sub(all, -1000))
end

-- Lease payload: wire \t scope \t score \t slot \t member. wire: o = a request may be under way, c = over, d = no try left
local function read_lease(token)
  local payload = call('HGET', LEASE, token)
  if not payload then return nil end
  return string.match(payload, '^(%a)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$')
end
local function write_lease(token, wire, scope, score, slot, member)
  call('HSET', LEASE, token, wire .. '\t' .. scope .. '\t' .. score .. '\t' .. slot .. '\t' .. member)
end
local function forget(token)
  call('HDEL', LEASE, token)
  call('ZREM', LEASES, token)
end
-- The request of a lease is over. sent = '' means it was never sent: the politeness slot is given back.
local function hang_up(wire, scope, slot, sent, latency)
  if wire ~= 'o' then return end
  if call('HINCRBY', BUSY, scope, -1) <= 0 then call('HDEL', BUSY, scope) end
  if sent == '' then
    if next_of(scope) == num(slot) and call('ZSCORE', WAIT, scope) == false then
      call('ZREM', NEXT, scope)
      if call('ZSCORE', READY, scope) then call('ZADD', READY, now, scope) end
    end
  else
    local delay = delay_of(scope)
    if delay > 0 then not_before(scope, math.ceil(math.max(num(sent) + delay, now + FACTOR * num(latency)))) end
  end
end
local function push(scope, score, member)
  if call('SISMEMBER', PURGED, scope) == 1 then
    count('queued', -1)
    count('purged', 1)
    return
  end
  call('ZADD', queue(scope), score, member)
  refresh(scope)
end
local function unpark(key, entries, others)
  for _, entry in ipairs(entries) do
    local scope, score, member = string.match(entry, '^([^\t]*)\t([^\t]*)\t(.*)$')
    call('ZREM', key, entry)
    if others then count('queued', 1) end
    push(scope, score, member)
  end
end
local function park(key, at, scope, score, member)
  call('ZADD', key, at, scope .. '\t' .. score .. '\t' .. member)
end
local function first(key)
  local found = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return num(found[2] or 0)
end
-- queued, leased, held, done, dead, seen, purged, waiting, next ready (ms or 0), mode
local function totals(patience)
  local far, waiting = now + patience, 0
  for _, scope in ipairs(call('ZRANGEBYSCORE', WAIT, '(' .. string.format('%.0f', far), '+inf', 'LIMIT', 0, 1000)) do
    waiting = waiting + call('ZCARD', queue(scope))
  end
  waiting = waiting + call('ZCOUNT', LATER, '(' .. string.format('%.0f', far), '+inf')
  local soonest = 0
  for _, key in ipairs({READY, LATER, LEASES}) do
    local at = first(key)
    if at > 0 and (soonest == 0 or at < soonest) then soonest = at end
  end
  return {stat('queued'), call('ZCARD', LEASES), call('ZCARD', HELD), stat('done'), call('HLEN', DEAD), stat('seen'),
          stat('purged'), waiting, soonest, call('HGET', ST, 'mode') or 'run'}
end
