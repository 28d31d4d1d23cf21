-- Scopes, queues and leases, for every script; head.lua stands in front. ack, finish and lease hold all of this back in
-- one function until they meet something unusual (`crawler.frontier.script_source`).
local DEAD, PURGED, OVERFLOW = P .. 'dead', P .. 'purged', P .. 'o:'
local FOREVER = 7258118400000  -- ms; model.py: until when a scope is paused
local EASY = 500  -- ms; the delay from which a scope without one slows down

local function queue(scope) return QUEUE .. scope end
local function overflow(scope) return OVERFLOW .. scope end

-- counters ------------------------------------------------------------------------------------------------------------
local delta = {}
local function count(name, n) delta[name] = (delta[name] or 0) + n end
local function stat(name) return num(call('HGET', ST, name) or 0) end

-- scopes. A call into the server costs more than the command itself, and most scopes have little to say: what is not
-- stored is usual. busy HASH scope -> next allowed time * SLOTS + requests under way, while there are some.
-- ready ZSET scope -> when, exactly while its queue is not empty, it is below its limit and no probe is out; a score that
-- lies in the future is its next allowed time. next ZSET scope -> next allowed time, where it is neither busy nor ready.
-- SLOTS is more than any limit; milliseconds times it stay below 2^53 until the year 2248.
local scopes, touched = {}, {}
local function breaker_of(s, record)
  local failures, openings, probe = match(record or '0:0:', '^(%d+):(%d+):(.*)$')
  s.failures, s.openings, s.probe = num(failures), num(openings), probe
end
local function load_special(names)
  local own, slow = special(OWN, names), special(SLOW, names)
  local breakers, spilled = special(BREAKER, names), special(SPILLED, names)
  for i, name in ipairs(names) do
    local s = scopes[name]
    if own[i] then s.base = math.max(num(own[i]), DELAY) end
    if slow[i] then
      local ms, since = match(slow[i], '^(%d+)@(%d+)$')
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
local function load_idle(names)
  for i, at in ipairs(call('ZMSCORE', NEXT, unpack(names))) do
    if at then
      local s = scopes[names[i]]
      s.next, s.was_next = num(at), num(at)
    end
  end
end
local function load_open(names)
  local idle, k = {}, 0
  for i, at in ipairs(call('ZMSCORE', READY, unpack(names))) do
    local s = scopes[names[i]]
    if at then
      s.ready, s.was_ready = num(at), num(at)
      if s.busy == 0 and s.ready > now then s.next = s.ready end
    elseif s.busy == 0 then
      k = k + 1
      idle[k] = names[i]
    end
  end
  if k > 0 then load_idle(idle) end
end
local function load(names)
  local missing = names
  if next(scopes) then
    missing = {}
    for _, name in ipairs(names) do
      if not scopes[name] then missing[#missing + 1] = name end
    end
  end
  if #missing == 0 then return end
  local open, k = {}, 0
  for i, record in ipairs(call('HMGET', BUSY, unpack(missing))) do
    local at = record and num(record) or 0
    local busy = at % SLOTS
    scopes[missing[i]] = setmetatable({busy = busy, next = (at - busy) / SLOTS, was_busy = at, ready = nil,
                                       was_ready = nil, was_next = nil, filled = nil}, USUAL)  -- room for all of them
    if busy < LIMIT then
      k = k + 1
      open[k] = missing[i]
    end
  end
  if k > 0 then load_open(open) end
  if any_special() then load_special(missing) end
end
-- The state of a scope; whoever asks for it may have changed whether it is ready.
local function state(name)
  local s = scopes[name]
  if not s then
    load({name})
    s = scopes[name]
  end
  touched[name] = s
  return s
end
-- The tables that were changed are saved; whoever changes them past these functions starts anew.
local function start_anew() scopes = {} end
local function not_before(s, at)
  if at > s.next and at > now then s.next = at end
end

local function save_special(name, s)
  local slow = s.slow > 0 and integer(s.slow) .. '@' .. integer(s.slow_since) or nil
  if slow ~= s.was_slow then
    if slow then hset(SLOW, name, slow) else call('HDEL', SLOW, name) end
  end
  local record = (s.failures > 0 or s.openings > 0) and s.failures .. ':' .. s.openings .. ':' .. s.probe or nil
  if record ~= s.was_record then
    if record then hset(BREAKER, name, record) else call('HDEL', BREAKER, name) end
  end
  if s.spilled ~= s.was_spilled then
    if s.spilled > 0 then hset(SPILLED, name, s.spilled) else call('HDEL', SPILLED, name) end
  end
  s.was_slow, s.was_record, s.was_spilled, extras = slow, record, s.spilled, nil
end
-- When the scope may be asked; nil while it is not to be asked at all.
local function due_of(name, s)
  if s.busy >= LIMIT or s.probe ~= '' or not (s.filled or call('EXISTS', queue(name)) == 1) then return nil end
  local since = s.ready or now
  return s.next > since and s.next or since
end
local function save()
  local busy, idle, nexts, ready, unready, rested = {}, {}, {}, {}, {}, {}
  for name, s in pairs(touched) do
    local due = due_of(name, s)
    if due ~= s.was_ready then
      if due then ready[#ready + 1] = due; ready[#ready + 1] = name else unready[#unready + 1] = name end
    end
    local at = s.next > now and s.next or 0
    local record = s.busy > 0 and at * SLOTS + s.busy or 0
    if record ~= s.was_busy then
      if record > 0 then busy[#busy + 1] = name; busy[#busy + 1] = record else idle[#idle + 1] = name end
    end
    if record > 0 or due or at == 0 then at = nil end
    if at ~= s.was_next then
      if at then nexts[#nexts + 1] = at; nexts[#nexts + 1] = name else rested[#rested + 1] = name end
    end
    s.ready, s.was_ready, s.was_busy, s.was_next, s.filled = due, due, record, at, nil
    if s.slow > 0 or s.was_slow or s.failures > 0 or s.was_record or s.spilled ~= s.was_spilled then save_special(name, s) end
  end
  touched = {}
  if #busy > 0 then hset(BUSY, unpack(busy)) end
  if #idle > 0 then call('HDEL', BUSY, unpack(idle)) end
  if #nexts > 0 then call('ZADD', NEXT, unpack(nexts)) end
  if #rested > 0 then call('ZREM', NEXT, unpack(rested)) end
  if #ready > 0 then call('ZADD', READY, unpack(ready)) end
  if #unready > 0 then call('ZREM', READY, unpack(unready)) end
  for name, n in pairs(delta) do
    if n ~= 0 then call('HINCRBY', ST, name, n) end
  end
  delta = {}
end

-- queue members: Python packs them (member.py); the scripts put "attempts.holds~" behind the version -------------------
local function split(member)
  if byte(member, KIND_AT) < 58 then
    local a, h, rest = match(member, '^(%d+)%.(%d+)~(.*)$', KIND_AT)
    if a then return num(a), num(h), VERSION .. rest end
  end
  return 0, 0, member
end
local function join(attempts, holds, rest)
  if attempts == 0 and holds == 0 then return rest end
  return VERSION .. attempts .. '.' .. holds .. '~' .. sub(rest, KIND_AT)
end
local function is_suspect(scope, member)
  local _, _, rest = split(member)
  return call('HEXISTS', SUSPECTS, scope .. '\t' .. rest) == 1
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
  if is_suspect(scope, member) then
    call('ZADD', ALONE, now, scope .. '\t' .. score .. '\t' .. member)
    return
  end
  call('ZADD', queue(scope), score, member)
  state(scope).filled = true
end

-- leases (head.lua) -----------------------------------------------------------------------------------------------------
local function encode(wire, scope, score, slot, member)
  return wire .. string.format(SLOT, slot) .. scope .. '\t' .. member .. '\t' .. score
end
local function read_leases(tokens)
  local found, names = {}, {}
  if #tokens == 0 then return found end
  for i, payload in ipairs(call('HMGET', LEASE, unpack(tokens))) do
    if payload then
      local scope, at = scope_of(payload)
      local member, score = match(payload, '^([^\t]*)\t(.*)$', at)
      found[i] = {token = tokens[i], wire = sub(payload, 1, 1), scope = scope, score = score, slot = slot_of(payload),
                  member = member}
      names[#names + 1] = scope
    end
  end
  load(names)
  return found
end
-- The request of a lease is over. sent = '' means it was never sent: the politeness slot is given back.
local function end_request(scope, slot, sent, latency)
  local s = state(scope)
  s.busy = s.busy > 0 and s.busy - 1 or 0
  if sent ~= '' then
    if s.delay > 0 then not_before(s, math.ceil(math.max(sent + s.delay, now + FACTOR * latency))) end
  elseif s.next == slot and num(call('ZSCORE', WAIT, scope) or 0) <= now then
    s.next = 0
    if s.ready then s.ready = now end
  end
end
local function hang_up(lease, sent, latency)
  if lease.wire == 'o' then end_request(lease.scope, lease.slot, sent, latency) end
end
-- The lease is over without a word on its host: another URL may probe it.
local function no_verdict(scope, token)
  load({scope})
  if scopes[scope].probe == token then state(scope).probe = '' end
end
-- The host has answered: its breaker closes, and a delay that 429 or 503 brought shrinks: every answer adds a tenth of
-- the undisturbed rate (additive increase, multiplicative decrease: Chiu and Jain 1989).
local function answered(scope)
  load({scope})
  local s = scopes[scope]
  if s.failures + s.openings + s.slow == 0 then return end
  touched[scope] = s
  s.failures, s.openings, s.probe = 0, 0, ''
  if s.slow > 0 then
    local usual = s.base > 0 and s.base or EASY
    s.slow = math.floor(1 / (1 / s.slow + 0.1 / usual))
    if s.slow <= usual then s.slow = 0 end
    s.delay = math.max(s.base, s.slow)
  end
end

-- suspects: a URL that was in hand when its worker died is tried alone until it is settled. A page is in hand from the
-- moment before its request is sent; its lease says so by a half (extend.lua). suspects HASH scope \t member -> deaths
-- alone : ms in hand alone, up to these deaths : in hand alone since : last seen so. alone ZSET entry -> when.
local SEEN_EVERY, LONGEST_REST = 250, 64000  -- ms; a worker says so often that it tries a suspect alone (prefetch.py)
local function is_in_hand(expiry) return num(expiry or 0) % 1 == 0.5 end
local function is_begun(expiry) return num(expiry or 0) % 1 ~= 0 end  -- in hand, or delivered (three quarters)
local function suspicion(key)
  local record = call('HGET', SUSPECTS, key)
  if not record then return nil end
  local deaths, ms, since, seen = match(record, '^(%d+):(%d+):(%d+):(%d+)$')
  return {deaths = num(deaths), ms = num(ms), since = num(since), seen = num(seen)}
end
local function suspected(key, s)
  local numbers = {integer(s.deaths), integer(s.ms), integer(s.since), integer(s.seen)}
  call('HSET', SUSPECTS, key, table.concat(numbers, ':'))
end
-- Between two trials it rests, longer each time: a worker that dies meanwhile was not killed by it.
local function suspect(lease)
  local _, _, rest = split(lease.member)
  local key, at = lease.scope .. '\t' .. rest, now
  local s = suspicion(key)
  if s then
    count('alone', 1)
    s.deaths, s.ms = s.deaths + 1, s.ms + s.seen - s.since + SEEN_EVERY
    at = now + math.min(2 ^ math.min(s.deaths, 30) * 1000, LONGEST_REST)
    because(lease.scope, rest, 'its worker died with nothing else in hand')
  end
  s = s or {deaths = 0, ms = 0}
  s.since, s.seen = 0, 0
  suspected(key, s)
  if call('SISMEMBER', PURGED, lease.scope) == 1 then return push(lease.scope, lease.score, lease.member) end
  call('ZADD', ALONE, at, lease.scope .. '\t' .. lease.score .. '\t' .. lease.member)
end
-- Deaths of workers are mostly not a page's doing. rate: of deaths a ms while it was not tried. Chance would have brought
-- as many as it had with a probability below (e * expected / deaths) ^ deaths (Chernoff bound); one in a million is proof.
local LEAST_DEATHS, PROOF = 3, math.log(1e-6)
local function is_convicted(key, rate)
  local s = suspicion(key)
  return s and s.deaths >= LEAST_DEATHS and s.deaths * (1 + math.log(rate * s.ms / s.deaths)) < PROOF
end
-- Those of scopes that are blocked until then.
local function suspects_behind(far)
  local n = 0
  for _, entry in ipairs(call('ZRANGE', ALONE, 0, 999)) do
    if num(call('ZSCORE', WAIT, match(entry, '^[^\t]*')) or 0) > far then n = n + 1 end
  end
  return n
end

-- URLs outside their queues, with a time: long pauses (later) and holds (held) ----------------------------------------
local function park(key, at, scope, score, member)
  call('ZADD', key, at, scope .. '\t' .. score .. '\t' .. member)
end
local function unpark(key, entries)
  for _, entry in ipairs(entries) do
    local scope, score, member = match(entry, '^([^\t]*)\t([^\t]*)\t(.*)$')
    call('ZREM', key, entry)
    if key == HELD then count('queued', 1) end
    push(scope, score, member)
  end
end

-- Leases whose worker is gone: the URLs return, and only what was in hand is suspected.
-- What a process has of the budgets (budget.lua) shrinks by the leases that it had not begun, as they come back.
local SPENDERS, BEARER = {P .. 'spenders', P .. 'spenders:seeds'}, 8  -- claims.py, bearer_of
local function change_spender(bearer, unbegun, last)
  for _, key in ipairs(SPENDERS) do
    local rows = call('HGETALL', key)
    for i = 1, #rows, 2 do
      if sub(rows[i], 1, #bearer + 1) == bearer .. '.' then
        local had, at, rest = match(rows[i + 1], '^(%d+) (%d+) (.*)$')
        local left = integer(math.max(0, num(had) - (unbegun[match(rows[i], '\t(.*)$') or ''] or 0)))
        call('HSET', key, rows[i], left .. ' ' .. (last or at) .. ' ' .. rest)
      end
    end
  end
end
local function is_dead(bearer)
  if bearer ~= '' then change_spender(bearer, {}, '0') end
end
local function give_back(leases, ends)
  if call('EXISTS', unpack(SPENDERS)) == 0 then return end
  local unbegun = {}
  for i, lease in pairs(leases) do
    if ends[i] and not is_begun(ends[i]) then
      local bearer = sub(match(lease.token, '[^.]*$'), 1, BEARER)
      local mine = unbegun[bearer] or {[''] = 0}
      mine[''], mine[lease.scope], unbegun[bearer] = mine[''] + 1, (mine[lease.scope] or 0) + 1, mine
    end
  end
  for bearer, mine in pairs(unbegun) do change_spender(bearer, mine) end
end
local function reclaim(tokens)
  local ends, leases = #tokens > 0 and call('ZMSCORE', LEASES, unpack(tokens)) or {}, read_leases(tokens)
  give_back(leases, ends)
  for i, lease in pairs(leases) do
    hang_up(lease, now, 0)
    no_verdict(lease.scope, lease.token)
    count('queued', 1)
    if is_in_hand(ends[i]) then suspect(lease) else push(lease.scope, lease.score, lease.member) end
  end
  forget(tokens)
end

-- queued, leased, held, done, dead, seen, purged, waiting, next ready (ms or 0), mode, parked, of paused scopes -----------------------------
local function first(key)
  local found = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return num(found[2] or 0)
end
local LIMITED = P .. 'limited'  -- pausing.lua
local function totals(patience)
  local far, waiting = '(' .. integer(now + patience), call('ZCOUNT', LATER, '(' .. integer(now + patience), '+inf')
  local paused, any_limited = call('ZCOUNT', LATER, FOREVER, '+inf'), call('EXISTS', LIMITED) == 1
  if paused > 0 and any_limited then  -- put back until the end of a pause; a limit is not what somebody means to go on with
    for _, entry in ipairs(call('ZRANGEBYSCORE', LATER, FOREVER, '+inf')) do
      paused = paused - call('HEXISTS', LIMITED, match(entry, '^[^\t]*'))
    end
  end
  waiting = waiting - paused
  local blocked = call('ZRANGEBYSCORE', WAIT, far, '+inf', 'LIMIT', 0, 1000)
  local by_hand = #blocked > 0 and call('HMGET', P .. 'paused', unpack(blocked)) or {}
  local limited = #blocked > 0 and any_limited and call('HMGET', LIMITED, unpack(blocked)) or {}
  for i, scope in ipairs(blocked) do
    local n = call('ZCARD', queue(scope)) + num(call('HGET', SPILLED, scope) or 0)
    -- who pauses a domain means to go on with it: it keeps the crawl from ending
    if by_hand[i] and not limited[i] then paused = paused + n else waiting = waiting + n end
  end
  waiting = waiting + suspects_behind(now + patience)
  local soonest = 0
  for _, key in ipairs({READY, LATER, LEASES}) do
    local at = first(key)
    if at > 0 and (soonest == 0 or at < soonest) then soonest = at end
  end
  return {stat('queued'), call('ZCARD', LEASES), call('ZCARD', HELD), stat('done'), call('HLEN', DEAD), stat('seen'),
          stat('purged'), waiting, soonest, call('HGET', ST, 'mode') or 'run', stat('barren'), paused}
end
