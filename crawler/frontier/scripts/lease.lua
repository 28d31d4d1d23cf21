-- LEASE: hand out up to n URLs of scopes whose time has come, the scope that waits longest first.
-- ARGV 5 n  6 lease (ms)  7 token prefix  8 token nonce  9 tries  10 patience (ms)
-- Returns {token, lease as it is kept, …}, {place in the batch, reasons, …} of those tried before, next ready (ms),
-- totals or false. A token is prefix .. number .. '.' .. nonce.
local n, expiry, tries, patience = num(ARGV[5]), now + num(ARGV[6]), num(ARGV[9]), num(ARGV[10])
local REFILL = 64  -- URLs that move from an overflow into its queue when that is empty

-- what silent workers held comes back; it costs an attempt
reclaim(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 64))
unpark(LATER, call('ZRANGEBYSCORE', LATER, '-inf', now, 'LIMIT', 0, 64))
save()
scopes = {}
call('ZREMRANGEBYSCORE', NEXT, '-inf', now)
call('ZREMRANGEBYSCORE', WAIT, '-inf', now)

local counters = call('HMGET', ST, 'serial', 'mode', 'queued')
local first, mode = num(counters[1] or 0) + 1, counters[2] or 'run'
local handed, out, expiries, reasons = 0, {}, {}, {}
local function note(scope, score, slot, member, wire)
  local token = ARGV[7] .. (first + handed) .. '.' .. ARGV[8]
  handed = handed + 1
  expiries[2 * handed - 1], expiries[2 * handed] = expiry, token
  out[2 * handed - 1], out[2 * handed] = token, wire .. scope .. '\t' .. score .. '\t' .. slot .. '\t' .. member
  return token
end
local function hand_out(scope, s, score, member)
  local attempts, holds, rest = split(member)
  local may_be_sent = attempts < tries
  local slot = may_be_sent and now + s.delay or 0
  local token = note(scope, score, integer(slot), member, may_be_sent and 'o\t' or 'd\t')
  if may_be_sent then
    not_before(s, slot)
    s.busy = s.busy + 1
    if s.openings > 0 then s.probe = token end
  end
  if attempts > 0 or holds > 0 then
    reasons[#reasons + 1] = handed
    reasons[#reasons + 1] = call('HGET', WHY, scope .. '\t' .. rest) or ''
  end
end
-- The next URLs of an overflow, behind everything that was queued before them with their priority.
local function refill(scope, s)
  local moved, entries = {}, call('LPOP', overflow(scope), REFILL) or {}
  local sequence = call('HINCRBY', ST, 'sequence', #entries) - #entries
  for k, entry in ipairs(entries) do
    local priority, member = match(entry, '^(%S+) (.*)$')
    moved[2 * k - 1], moved[2 * k] = sequence + k - num(priority) * 1099511627776, member
  end
  if #moved > 0 then call('ZADD', queue(scope), unpack(moved)) end
  s.spilled = s.spilled - #entries
end

-- One URL of each of these scopes, which are no longer among the ready ones: who may still be asked returns behind the
-- others. The usual case goes without a table for the scope: one request at a time, nothing special, never tried before.
local SLOT = integer(now + DELAY)
local RECORD = integer((DELAY > 0 and now + DELAY or 0) * SLOTS + 1)
local function serve(names)
  local records, marks, busy, k = call('HMGET', BUSY, unpack(names)), marks_of(names), {}, 0
  for i, scope in ipairs(names) do
    local usual = LIMIT == 1 and not records[i] and not marks[i]
    local free = usual or num(records[i] or 0) % SLOTS < LIMIT
    local popped = free and call('ZPOPMIN', QUEUE .. scope) or {}
    local member = popped[1]
    if usual and member and byte(member) >= 58 then
      note(scope, popped[2], SLOT, member, 'o\t')
      busy[k + 1], busy[k + 2], k = scope, RECORD, k + 2
    else
      local s = state(scope)
      if member then hand_out(scope, s, popped[2], member) end
      if s.spilled > 0 and call('EXISTS', queue(scope)) == 0 then refill(scope, s) end
    end
  end
  if k > 0 then hset(BUSY, unpack(busy)) end
  save()
end
while mode == 'run' and handed < n do
  local found = call('ZRANGEBYSCORE', READY, '-inf', now, 'LIMIT', 0, n - handed)
  if #found == 0 then break end
  call('ZREMRANGEBYRANK', READY, 0, #found - 1)
  scopes = {}
  serve(found)
end
if handed > 0 then
  zadd(LEASES, unpack(expiries))
  hset(LEASE, unpack(out))
  call('HSET', ST, 'serial', first + handed - 1, 'queued', num(counters[3] or 0) - handed)
end
if handed == n then return {out, reasons, now, false} end
local sums = totals(patience)
if sums[1] - sums[8] + sums[2] > 0 and mode == 'run' then  -- what is on hold is tried again while there is other work
  local due = call('ZRANGEBYSCORE', HELD, '-inf', now, 'LIMIT', 0, 16)
  if #due > 0 then
    unpark(HELD, due)
    save()
    sums = totals(patience)
  end
end
return {out, reasons, sums[9], sums}
