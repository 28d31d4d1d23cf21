-- LEASE: hand out up to n URLs of scopes whose time has come, the scope that waits longest first.
-- ARGV 5 n  6 lease (ms)  7 token prefix  8 token nonce  9 tries  10 patience (ms)  11 URLs that the worker has in hand
-- 12 deaths of workers a ms (common.lua, suspects): a suspect comes alone, to a worker without anything in hand; to another
-- one, which then gets nothing else until it has done it, only where it has waited.
-- Returns {token, lease as it is kept, …}, {place in the batch, reasons, …} of those tried before, next ready (ms),
-- totals or false, nonce of the first lease call that this shard has answered: another one than before tells a worker that the server was emptied,
-- 1 = a suspect. A token is prefix .. number .. '.' .. nonce.
local n, expiry, tries, patience = num(ARGV[5]), integer(now + num(ARGV[6])), num(ARGV[9]), num(ARGV[10])
local POOR = 1685 * PRIORITY  -- score of a link that promises fewer than 50 tokens (shapes.lua)

-- what silent workers held comes back
local expired = call('ZRANGEBYSCORE', LEASES, '-inf', ARGV[1], 'LIMIT', 0, 64)
local due = call('ZRANGEBYSCORE', LATER, '-inf', ARGV[1], 'LIMIT', 0, 64)
if #expired + #due > 0 then
  rare().reclaim(expired)
  rare().unpark(LATER, due)
  rare().save()
end

local put = call('EXISTS', BUSY, LEASES, LEASE) == 3 and plain or wide
local counters = call('HMGET', ST, 'serial', 'mode', 'preferred', 'born')
local first, mode = num(counters[1] or 0) + 1, counters[2] or 'run'
local born = counters[4]
if not born then
  born = ARGV[8]
  call('HSET', ST, 'born', born)
end
local handed, out, expiries, reasons = 0, {}, {}, {}
local function note(front, scope, member, score)
  local token = ARGV[7] .. (first + handed) .. '.' .. ARGV[8]
  handed = handed + 1
  expiries[2 * handed - 1], expiries[2 * handed] = expiry, token
  out[2 * handed - 1], out[2 * handed] = token, front .. scope .. '\t' .. member .. '\t' .. score
  return token
end
local function hand_out(scope, s, score, member, alone, given_up)
  local attempts, holds, rest = rare().split(member)
  local may_be_sent = attempts < tries and not given_up
  local slot = may_be_sent and now + s.delay or 0
  local token = note((may_be_sent and 'o' or 'd') .. string.format(SLOT, slot), scope, member, score)
  if may_be_sent then
    rare().not_before(s, slot)
    s.busy = s.busy + 1
    if s.openings > 0 then s.probe = token end
  end
  if attempts > 0 or holds > 0 or alone then
    reasons[#reasons + 1] = handed
    reasons[#reasons + 1] = call('HGET', WHY, scope .. '\t' .. rest) or ''
  end
end
-- A queue that is empty, or whose best promises little, gets more of its overflow. Returns how many are left there, nil
-- where it needs none.
local function replenished(scope, spilled, score)
  if call('EXISTS', QUEUE .. scope) == 0 then return rare().refill(scope, spilled) end
  return num(score) > POOR and rare().sift(scope, spilled) or nil
end

-- One URL of each of these scopes, which are no longer among the ready ones: who may still be asked returns behind the
-- others. The usual case goes without a table for the scope: one request at a time, nothing special, never tried before.
local FRONT = 'o' .. string.format(SLOT, now + DELAY)
local RECORD = integer((DELAY > 0 and now + DELAY or 0) * SLOTS + 1)
local function serve(names)
  local records, marks, spilled, busy, k = call('HMGET', BUSY, unpack(names)), marks_of(names), special(SPILLED, names), {}, 0
  for i = 1, #names do
    local scope = names[i]
    local usual = LIMIT == 1 and not records[i] and not marks[i]
    local free = usual or num(records[i] or 0) % SLOTS < LIMIT
    local popped = free and call('ZPOPMIN', QUEUE .. scope) or {}
    local member = popped[1]
    if usual and member and byte(member, KIND_AT) >= 58 then
      note(FRONT, scope, member, popped[2])
      busy[k + 1], busy[k + 2], k = scope, RECORD, k + 2
      local left = spilled[i] and replenished(scope, num(spilled[i]), popped[2])
      if left then
        if left > 0 then call('HSET', SPILLED, scope, left) else call('HDEL', SPILLED, scope) end
      end
    else
      local s = rare().state(scope)
      if member then hand_out(scope, s, popped[2], member) end
      s.spilled = s.spilled > 0 and replenished(scope, s.spilled, popped[2] or 0) or s.spilled
    end
  end
  if k > 0 then put(BUSY, 'HSET', 'HDEL', unpack(busy)) end
  save_if_needed()
end
-- The first suspect whose scope has its turn; returns whether there was one.
local WAITED = 2000  -- ms
local function suspect_handed_out()
  local before = num(ARGV[11]) == 0 and ARGV[1] or integer(now - WAITED)
  for _, entry in ipairs(call('ZRANGEBYSCORE', ALONE, '-inf', before, 'LIMIT', 0, 16)) do
    local scope, score, member = match(entry, '^([^\t]*)\t([^\t]*)\t(.*)$')
    local s, _, _, rest = rare().state(scope), rare().split(member)
    local given_up = rare().is_convicted(scope .. '\t' .. rest, num(ARGV[12]))
    if given_up or s.busy < LIMIT and s.probe == '' and s.next <= now then
      call('ZREM', ALONE, entry)
      hand_out(scope, s, score, member, true, given_up)
      rare().save()
      return true
    end
  end
  return false
end
-- Scopes that go before others (prefer.lua): those of the highest priorities whose time has come.
local function preferred()
  local names, found = call('ZREVRANGE', PREFERRED, 0, 999), {}
  for i, at in ipairs(call('ZMSCORE', READY, unpack(names))) do
    if at and num(at) <= now and #found < n then found[#found + 1] = names[i] end
  end
  if #found > 0 then
    call('ZREM', READY, unpack(found))
    serve(found)
  end
end
local alone = mode == 'run' and n > 0 and suspect_handed_out()
if alone then n = 1 end
if mode == 'run' and handed < n and num(counters[3] or 0) > 0 then preferred() end
while mode == 'run' and handed < n do
  local found = call('ZRANGEBYSCORE', READY, '-inf', ARGV[1], 'LIMIT', 0, n - handed)
  if #found == 0 then break end
  call('ZREMRANGEBYRANK', READY, 0, #found - 1)
  if library then library.start_anew() end
  serve(found)
end
if handed > 0 then
  put(LEASES, 'ZADD', 'ZREM', unpack(expiries))
  put(LEASE, 'HSET', 'HDEL', unpack(out))
  call('HSET', ST, 'serial', first + handed - 1)
  call('HINCRBY', ST, 'queued', -handed)
end
-- What has passed by itself goes now and then: whoever reads these knows that it may still be there.
local TIDY = 128  -- URLs handed out
if handed < n or math.floor(first / TIDY) < math.floor((first + n) / TIDY) then
  call('ZREMRANGEBYSCORE', NEXT, '-inf', ARGV[1])
  call('ZREMRANGEBYSCORE', WAIT, '-inf', ARGV[1])
end
if handed == n then return {out, reasons, now, false, born, alone and 1 or 0} end
local sums = rare().totals(patience)
if sums[1] - sums[8] + sums[2] > 0 and mode == 'run' then  -- what is on hold is tried again while there is other work
  local held = call('ZRANGEBYSCORE', HELD, '-inf', ARGV[1], 'LIMIT', 0, 16)
  if #held > 0 then
    rare().unpark(HELD, held)
    rare().save()
    sums = rare().totals(patience)
  end
end
return {out, reasons, sums[9], sums, born, 0}
