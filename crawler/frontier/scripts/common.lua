-- Shared by every script. KEYS[1] is the prefix "{crawl.shard}:" of all keys of the shard: one hash tag, one slot.
-- ARGV: 1 now (ms)  2 delay (ms)  3 concurrency  4 latency factor; the script's own arguments start at 5.
-- A call into the server costs more than the command itself: scopes are read and written in bulk, counters once.
local call, num = redis.call, tonumber
local P = KEYS[1]
local now, DELAY, LIMIT, FACTOR = num(ARGV[1]), num(ARGV[2]), num(ARGV[3]), num(ARGV[4])
local READY, NEXT, BUSY, LEASES, LEASE = P .. 'ready', P .. 'next', P .. 'busy', P .. 'leases', P .. 'lease'
local LATER, HELD, WHY, DEAD, ST = P .. 'later', P .. 'held', P .. 'why', P .. 'dead', P .. 'st'
local WAIT, PURGED, OWN = P .. 'blocked', P .. 'purged', P .. 'delay'
local SLOW, BREAKER, SPILLED = P .. 'slow', P .. 'breaker', P .. 'spilled'
local EASY = 500  -- ms; the delay from which a scope without one slows down

local function integer(n) return string.format('%.0f', n) end
local function queue(scope) return P .. 'q:' .. scope end
local function overflow(scope) return P .. 'o:' .. scope end

-- counters ------------------------------------------------------------------------------------------------------------
local delta = {}
local function count(name, n) delta[name] = (delta[name] or 0) + n end
local function stat(name) return num(call('HGET', ST, name) or 0) end

-- scopes: requests under way (busy), next allowed time (next), place among the ready ones (ready); and, where there is
-- something to say: delay of its own, delay it asked for by 429/503 (slow), circuit breaker, URLs in its overflow (spilled)
local scopes, touched, extras = {}, {}, nil
local SPECIAL = {OWN, SLOW, BREAKER, SPILLED}
local function any_special()
  if not extras then
    extras = {any = call('EXISTS', unpack(SPECIAL)) > 0}
    for _, key in ipairs(extras.any and SPECIAL or {}) do extras[key] = call('EXISTS', key) == 1 end
  end
  return extras.any
end
local function special(key, names)
  return any_special() and extras[key] and call('HMGET', key, unpack(names)) or {}
end
local function breaker_of(s, record)
  local failures, openings, probe = string.match(record or '0:0:', '^(%d+):(%d+):(.*)$')
  s.failures, s.openings, s.probe = num(failures), num(openings), probe
end
local function load_special(names)
  local own, slow = special(OWN, names), special(SLOW, names)
  local breakers, spilled = special(BREAKER, names), special(SPILLED, names)
  for i, name in ipairs(names) do
    local s = scopes[name]
    if own[i] then s.base = math.max(num(own[i]), DELAY) end
    if slow[i] then
      local ms, since = string.match(slow[i], '^(%d+)@(%d+)$')
      s.slow, s.slow_since, s.was_slow = num(ms), num(since), slow[i]
    end
    s.delay = math.max(s.base, s.slow)
    if breakers[i] then
      breaker_of(s, breakers[i])
      s.was_record = breakers[i]
    end
    if spilled[i] then s.spilled, s.was_spilled = num(spilled[i]), num(spilled[i]) end
  end
end
-- What most scopes have nothing to say about is not stored in their tables: they are made by the thousand.
local USUAL = {__index = {base = DELAY, delay = DELAY, slow = 0, slow_since = 0, failures = 0, openings = 0, probe = '',
                          spilled = 0, was_spilled = 0}}
-- `due`: these scopes are known to be ready since these times, so that nothing keeps them.
local function load(names, due)
  local missing, since = names, due
  if next(scopes) then
    missing, since = {}, due and {}
    for i, name in ipairs(names) do
      if not scopes[name] then
        missing[#missing + 1] = name
        if due then since[#missing] = due[i] end
      end
    end
  end
  if #missing == 0 then return end
  local busy = call('HMGET', BUSY, unpack(missing))
  local nexts = due and {} or call('ZMSCORE', NEXT, unpack(missing))
  local readies = since or call('ZMSCORE', READY, unpack(missing))
  for i, name in ipairs(missing) do
    local b, at, ready = num(busy[i] or 0), num(nexts[i] or 0), readies[i] and num(readies[i]) or nil
    scopes[name] = setmetatable({busy = b, was_busy = b, next = at, was_next = at, ready = ready, was_ready = ready}, USUAL)
  end
  if any_special() then load_special(missing) end
end
-- The state of a scope; whoever asks for it may have changed whether it is ready.
local function state(name)
  if not scopes[name] then load({name}) end
  touched[name] = true
  return scopes[name]
end
local function not_before(s, at)
  if at > s.next and at > now then s.next = at end
end

local function save_special(name, s)
  local slow = s.slow > 0 and integer(s.slow) .. '@' .. integer(s.slow_since) or nil
  if slow ~= s.was_slow then
    if slow then call('HSET', SLOW, name, slow) else call('HDEL', SLOW, name) end
  end
  local record = (s.failures > 0 or s.openings > 0) and s.failures .. ':' .. s.openings .. ':' .. s.probe or nil
  if record ~= s.was_record then
    if record then call('HSET', BREAKER, name, record) else call('HDEL', BREAKER, name) end
  end
  if s.spilled ~= s.was_spilled then
    if s.spilled > 0 then call('HSET', SPILLED, name, s.spilled) else call('HDEL', SPILLED, name) end
  end
  s.was_slow, s.was_record, s.was_spilled, extras = slow, record, s.spilled, nil
end

-- ready holds a scope exactly while its queue is not empty, it is below its concurrency limit and no probe is out;
-- score = when.
local function save()
  local busy, idle, nexts, ready, unready = {}, {}, {}, {}, {}
  for name in pairs(touched) do
    local s = scopes[name]
    if s.busy ~= s.was_busy then
      if s.busy > 0 then busy[#busy + 1] = name; busy[#busy + 1] = s.busy else idle[#idle + 1] = name end
    end
    if s.next ~= s.was_next then
      if s.next > 0 then nexts[#nexts + 1] = s.next; nexts[#nexts + 1] = name else call('ZREM', NEXT, name) end
    end
    if s.busy >= LIMIT or s.probe ~= '' or not (s.filled or call('EXISTS', queue(name)) == 1) then
      if s.was_ready then unready[#unready + 1] = name end
      s.ready = nil
    else
      local since = s.ready or now
      local due = s.next > since and s.next or since
      if due ~= s.was_ready then ready[#ready + 1] = due; ready[#ready + 1] = name end
      s.ready = due
    end
    s.was_busy, s.was_next, s.was_ready, s.filled = s.busy, s.next, s.ready, nil
    if s.slow > 0 or s.was_slow or s.failures > 0 or s.was_record or s.spilled ~= s.was_spilled then save_special(name, s) end
  end
  touched = {}
  if #busy > 0 then call('HSET', BUSY, unpack(busy)) end
  if #idle > 0 then call('HDEL', BUSY, unpack(idle)) end
  if #nexts > 0 then call('ZADD', NEXT, unpack(nexts)) end
  if #ready > 0 then call('ZADD', READY, unpack(ready)) end
  if #unready > 0 then call('ZREM', READY, unpack(unready)) end
  for name, n in pairs(delta) do
    if n ~= 0 then call('HINCRBY', ST, name, n) end
  end
  delta = {}
end

-- queue members: Python packs them; the scripts put "attempts.holds~" in front ----------------------------------------
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
local function push(scope, score, member)
  if call('SISMEMBER', PURGED, scope) == 1 then
    count('queued', -1)
    count('purged', 1)
    return
  end
  call('ZADD', queue(scope), score, member)
  state(scope).filled = true
end

-- leases: wire \t scope \t score \t slot \t member. wire: o = a request may be under way, c = over, d = no try left ----
local function encode(wire, scope, score, slot, member)
  return wire .. '\t' .. scope .. '\t' .. score .. '\t' .. slot .. '\t' .. member
end
local function read_leases(tokens)
  local found, names = {}, {}
  if #tokens == 0 then return found end
  for i, payload in ipairs(call('HMGET', LEASE, unpack(tokens))) do
    if payload then
      local wire, scope, score, slot, member = string.match(payload, '^(%a)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$')
      found[i] = {token = tokens[i], wire = wire, scope = scope, score = score, slot = num(slot), member = member}
      names[#names + 1] = scope
    end
  end
  load(names)
  return found
end
local function forget(tokens)
  if #tokens == 0 then return end
  call('HDEL', LEASE, unpack(tokens))
  call('ZREM', LEASES, unpack(tokens))
end
-- The request of a lease is over. sent = '' means it was never sent: the politeness slot is given back.
local function hang_up(lease, sent, latency)
  if lease.wire ~= 'o' then return end
  local s = state(lease.scope)
  s.busy = s.busy > 0 and s.busy - 1 or 0
  if sent ~= '' then
    if s.delay > 0 then not_before(s, math.ceil(math.max(num(sent) + s.delay, now + FACTOR * num(latency)))) end
  elseif s.next == lease.slot and not call('ZSCORE', WAIT, lease.scope) then
    s.next = 0
    if s.ready then s.ready = now end
  end
end

-- The lease is over without a word on its host: another URL may probe it.
local function no_verdict(lease)
  if scopes[lease.scope].probe == lease.token then state(lease.scope).probe = '' end
end
-- The host has answered: its breaker closes, and a delay that 429 or 503 brought shrinks: every answer adds a tenth of
-- the undisturbed rate (additive increase, multiplicative decrease: Chiu and Jain 1989).
local function answered(lease)
  local s = scopes[lease.scope]
  if s.failures + s.openings + s.slow == 0 then return end
  state(lease.scope)
  s.failures, s.openings, s.probe = 0, 0, ''
  if s.slow > 0 then
    local usual = math.max(s.base, EASY)
    s.slow = math.floor(1 / (1 / s.slow + 0.1 / usual))
    if s.slow <= usual then s.slow = 0 end
    s.delay = math.max(s.base, s.slow)
  end
end

-- Leases whose worker is gone: the URLs return, at the cost of an attempt.
local function reclaim(tokens)
  for _, lease in pairs(read_leases(tokens)) do
    hang_up(lease, now, 0)
    no_verdict(lease)
    local attempts, holds, rest = split(lease.member)
    because(lease.scope, rest, 'lease expired')
    count('queued', 1)
    push(lease.scope, lease.score, join(attempts + 1, holds, rest))
  end
  forget(tokens)
end

-- URLs outside their queues, with a time: long pauses (later) and holds (held) ----------------------------------------
local function park(key, at, scope, score, member)
  call('ZADD', key, at, scope .. '\t' .. score .. '\t' .. member)
end
local function unpark(key, entries)
  for _, entry in ipairs(entries) do
    local scope, score, member = string.match(entry, '^([^\t]*)\t([^\t]*)\t(.*)$')
    call('ZREM', key, entry)
    if key == HELD then count('queued', 1) end
    push(scope, score, member)
  end
end

-- queued, leased, held, done, dead, seen, purged, waiting, next ready (ms or 0), mode ---------------------------------
local function first(key)
  local found = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return num(found[2] or 0)
end
local function totals(patience)
  local far, waiting = '(' .. integer(now + patience), call('ZCOUNT', LATER, '(' .. integer(now + patience), '+inf')
  for _, scope in ipairs(call('ZRANGEBYSCORE', WAIT, far, '+inf', 'LIMIT', 0, 1000)) do
    waiting = waiting + call('ZCARD', queue(scope)) + num(call('HGET', SPILLED, scope) or 0)
  end
  local soonest = 0
  for _, key in ipairs({READY, LATER, LEASES}) do
    local at = first(key)
    if at > 0 and (soonest == 0 or at < soonest) then soonest = at end
  end
  return {stat('queued'), call('ZCARD', LEASES), call('ZCARD', HELD), stat('done'), call('HLEN', DEAD), stat('seen'),
          stat('purged'), waiting, soonest, call('HGET', ST, 'mode') or 'run'}
end

-- what people ask about a scope: URLs finished (done) and without a try left (failed); and how many were finished lately,
-- in seven slots of ten seconds
local RING, RING_MS = 7, 10000
local tallies = {done = {}, failed = {}}
local function tally(name, scope, n) tallies[name][scope] = (tallies[name][scope] or 0) + n end
local function save_tallies()
  for name, by_scope in pairs(tallies) do
    local names, row, k = {}, {}, 0
    for scope in pairs(by_scope) do names[#names + 1] = scope end
    if #names > 0 then
      local had = call('HMGET', P .. name, unpack(names))
      for i, scope in ipairs(names) do
        local n = num(had[i] or 0) + by_scope[scope]
        if n > 0 then k = k + 2; row[k - 1], row[k] = scope, n else call('HDEL', P .. name, scope) end
      end
      if k > 0 then call('HSET', P .. name, unpack(row)) end
    end
  end
  tallies = {done = {}, failed = {}}
end
local function finished_lately(n)
  if n == 0 then return end
  local slot = integer(math.floor(now / RING_MS))
  local field = 'lately' .. slot % RING
  local at, had = string.match(call('HGET', ST, field) or '', '^(%d+):(%d+)$')
  call('HSET', ST, field, slot .. ':' .. integer((at == slot and num(had) or 0) + n))
end
