-- LEASE: hand out up to n URLs of scopes whose time has come, the scope that waits longest first.
-- ARGV 5 n  6 lease (ms)  7 token prefix  8 token nonce  9 tries  10 patience (ms)
-- Returns number of the first token, {scope, score, slot, member, reasons, …}, next ready (ms), totals or false.
-- The k-th token is prefix .. number + k - 1 .. '.' .. nonce.
local n, expiry, tries, patience = num(ARGV[5]), now + num(ARGV[6]), num(ARGV[9]), num(ARGV[10])
local REFILL = 64  -- URLs that move from an overflow into its queue when that is empty

-- what silent workers held comes back; it costs an attempt
reclaim(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 64))
unpark(LATER, call('ZRANGEBYSCORE', LATER, '-inf', now, 'LIMIT', 0, 64))
save()
scopes = {}
call('ZREMRANGEBYSCORE', NEXT, '-inf', now)
call('ZREMRANGEBYSCORE', WAIT, '-inf', now)

local counters = call('HMGET', ST, 'serial', 'mode')
local first, mode = num(counters[1] or 0) + 1, counters[2] or 'run'
local out, handed, expiries, payloads = {}, 0, {}, {}
local function hand_out(scope, s, score, member)
  local attempts, holds, rest = split(member)
  local token = ARGV[7] .. integer(first + handed) .. '.' .. ARGV[8]
  local wire, slot = 'd', 0
  if attempts < tries then
    wire, slot = 'o', now + s.delay
    not_before(s, slot)
    s.busy = s.busy + 1
    if s.openings > 0 then s.probe = token end
  end
  handed = handed + 1
  expiries[#expiries + 1], expiries[#expiries + 2] = expiry, token
  payloads[#payloads + 1], payloads[#payloads + 2] = token, encode(wire, scope, score, slot, member)
  local why = (attempts > 0 or holds > 0) and call('HGET', WHY, scope .. '\t' .. rest) or ''
  local o = #out
  out[o + 1], out[o + 2], out[o + 3], out[o + 4], out[o + 5] = scope, score, slot, member, why or ''
  s.ready = nil  -- to the end of those that wait
end
-- The next URLs of an overflow, behind everything that was queued before them with their priority.
local function refill(scope, s)
  local moved, entries = {}, call('LPOP', overflow(scope), REFILL) or {}
  local sequence = call('HINCRBY', ST, 'sequence', #entries) - #entries
  for k, entry in ipairs(entries) do
    local priority, member = string.match(entry, '^(%S+) (.*)$')
    moved[2 * k - 1], moved[2 * k] = sequence + k - num(priority) * 1099511627776, member
  end
  if #moved > 0 then call('ZADD', queue(scope), unpack(moved)) end
  s.spilled = s.spilled - #entries
end

while mode == 'run' and handed < n do
  local found = call('ZRANGEBYSCORE', READY, '-inf', now, 'WITHSCORES', 'LIMIT', 0, n - handed)
  if #found == 0 then break end
  local names, since = {}, {}
  for k = 1, #found, 2 do names[#names + 1], since[#since + 1] = found[k], num(found[k + 1]) end
  load(names, since)
  for _, scope in ipairs(names) do
    local popped, s = call('ZPOPMIN', queue(scope)), state(scope)
    if popped[1] then hand_out(scope, s, popped[2], popped[1]) end
    if s.spilled > 0 and call('EXISTS', queue(scope)) == 0 then refill(scope, s) end
  end
  save()
end
if handed > 0 then
  call('ZADD', LEASES, unpack(expiries))
  call('HSET', LEASE, unpack(payloads))
  count('serial', handed)
  count('queued', -handed)
  save()
end
if handed == n then return {first, out, now, false} end
local sums = totals(patience)
if sums[1] - sums[8] + sums[2] > 0 and mode == 'run' then  -- what is on hold is tried again while there is other work
  local due = call('ZRANGEBYSCORE', HELD, '-inf', now, 'LIMIT', 0, 16)
  if #due > 0 then
    unpark(HELD, due)
    save()
    sums = totals(patience)
  end
end
return {first, out, sums[9], sums}
