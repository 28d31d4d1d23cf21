-- LEASE: hand out up to n URLs of scopes whose time has come, oldest waiting scope first.
-- ARGV 5 n  6 lease (ms)  7 token prefix  8 token nonce  9 tries  10 patience (ms)
-- Returns {{token, scope, score, slot, member, reasons}*}, next ready (ms), totals or false.
local n, expiry, tries, patience = num(ARGV[5]), now + num(ARGV[6]), num(ARGV[9]), num(ARGV[10])

-- what silent workers held comes back; it costs an attempt
for _, token in ipairs(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 64)) do
  local wire, scope, score, slot, member = read_lease(token)
  forget(token)
  if wire then
    hang_up(wire, scope, slot, string.format('%.0f', now), 0)
    local attempts, holds, rest = split(member)
    because(scope, rest, 'lease expired')
    count('queued', 1)
    push(scope, score, join(attempts + 1, holds, rest))
    refresh(scope)
  end
end
unpark(LATER, call('ZRANGEBYSCORE', LATER, '-inf', now, 'LIMIT', 0, 64), false)
call('ZREMRANGEBYSCORE', NEXT, '-inf', now)
call('ZREMRANGEBYSCORE', WAIT, '-inf', now)
flush()
delta = {}

local out, serial = {}, stat('serial')
local function hand_out(scope, score, member)
  local attempts, holds, rest = split(member)
  local wire, slot = 'o', now + delay_of(scope)
  serial = serial + 1
  if attempts >= tries then
    wire, slot = 'd', 0
  else
    not_before(scope, slot)
    call('HINCRBY', BUSY, scope, 1)
  end
  local token = ARGV[7] .. string.format('%.0f', serial) .. '.' .. ARGV[8]
  call('ZADD', LEASES, expiry, token)
  write_lease(token, wire, scope, score, slot, member)
  local why = (attempts > 0 or holds > 0) and call('HGET', WHY, scope .. '\t' .. rest) or ''
  out[#out + 1] = {token, scope, score, slot, member, why or ''}
end

local mode = call('HGET', ST, 'mode') or 'run'
while mode == 'run' and #out < n do
  local scopes = call('ZRANGEBYSCORE', READY, '-inf', now, 'LIMIT', 0, n - #out)
  if #scopes == 0 then break end
  for _, scope in ipairs(scopes) do
    local popped = call('ZPOPMIN', queue(scope))
    local member, score = popped[1], popped[2]
    if member then hand_out(scope, score, member) end
    call('ZREM', READY, scope)
    refresh(scope)
  end
end
if #out > 0 then
  call('HSET', ST, 'serial', string.format('%.0f', serial))
  count('queued', -#out)
  flush()
  delta = {}
end
if #out == n then return {out, now, false} end
local sums = totals(patience)
if sums[1] - sums[8] + sums[2] > 0 and mode == 'run' then  -- what is on hold is tried again while there is other work
  local due = call('ZRANGEBYSCORE', HELD, '-inf', now, 'LIMIT', 0, 16)
  if #due > 0 then
    unpark(HELD, due, true)
    flush()
    sums = totals(patience)
  end
end
return {out, sums[9], sums}
