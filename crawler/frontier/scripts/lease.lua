-- LEASE: hand out up to n URLs of scopes whose time has come, the scope that waits longest first.
-- ARGV 5 n  6 lease (ms)  7 token prefix  8 token nonce  9 tries  10 patience (ms)
-- Returns {{token, scope, score, slot, member, reasons}*}, next ready (ms), totals or false.
local n, expiry, tries, patience = num(ARGV[5]), now + num(ARGV[6]), num(ARGV[9]), num(ARGV[10])

-- what silent workers held comes back; it costs an attempt
reclaim(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 64))
unpark(LATER, call('ZRANGEBYSCORE', LATER, '-inf', now, 'LIMIT', 0, 64))
save()
scopes = {}
call('ZREMRANGEBYSCORE', NEXT, '-inf', now)
call('ZREMRANGEBYSCORE', WAIT, '-inf', now)

local out, serial, expiries, payloads = {}, stat('serial'), {}, {}
local function hand_out(scope, score, member)
  local attempts, holds, rest = split(member)
  local s = state(scope)
  local wire, slot = 'd', 0
  if attempts < tries then
    wire, slot = 'o', now + s.delay
    not_before(s, slot)
    s.busy = s.busy + 1
  end
  serial = serial + 1
  local token = ARGV[7] .. integer(serial) .. '.' .. ARGV[8]
  expiries[#expiries + 1], expiries[#expiries + 2] = expiry, token
  payloads[#payloads + 1], payloads[#payloads + 2] = token, encode(wire, scope, score, slot, member)
  local why = (attempts > 0 or holds > 0) and call('HGET', WHY, scope .. '\t' .. rest) or ''
  out[#out + 1] = {token, scope, score, slot, member, why or ''}
  s.ready = nil  -- to the end of those that wait
end

local mode = call('HGET', ST, 'mode') or 'run'
while mode == 'run' and #out < n do
  local names = call('ZRANGEBYSCORE', READY, '-inf', now, 'LIMIT', 0, n - #out)
  if #names == 0 then break end
  load(names)
  for _, scope in ipairs(names) do
    local popped = call('ZPOPMIN', queue(scope))
    if popped[1] then hand_out(scope, popped[2], popped[1]) else state(scope) end
  end
  save()
end
if #out > 0 then
  call('ZADD', LEASES, unpack(expiries))
  call('HSET', LEASE, unpack(payloads))
  call('HSET', ST, 'serial', integer(serial))
  count('queued', -#out)
  save()
end
if #out == n then return {out, now, false} end
local sums = totals(patience)
if sums[1] - sums[8] + sums[2] > 0 and mode == 'run' then  -- what is on hold is tried again while there is other work
  local due = call('ZRANGEBYSCORE', HELD, '-inf', now, 'LIMIT', 0, 16)
  if #due > 0 then
    unpark(HELD, due)
    save()
    sums = totals(patience)
  end
end
return {out, sums[9], sums}
