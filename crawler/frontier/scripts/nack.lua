-- NACK: this try failed (or was never begun). ARGV 5 tries, then (token, not before ms, reason, counts 1|0, sent or '')*
-- Returns per token 1 queued again, 0 no try left (the lease stays until it is acknowledged), -1 the lease had expired.
local tries, tokens, answers = num(ARGV[5]), {}, {}
for i = 6, #ARGV, 5 do tokens[#tokens + 1] = ARGV[i] end
local found = read_leases(tokens)
local function again(token, lease, at, reason, counts, sent)
  local attempts, holds, rest = split(lease.member)
  local member = join(attempts + counts, holds, rest)
  hang_up(lease, sent, 0)
  because(lease.scope, rest, reason)
  if counts == 1 and attempts + 1 >= tries then
    call('HSET', LEASE, token, encode('d', lease.scope, lease.score, lease.slot, member))
    return 0
  end
  forget({token})
  count('queued', 1)
  if at > now then park(LATER, at, lease.scope, lease.score, member) else push(lease.scope, lease.score, member) end
  return 1
end
for i, token in ipairs(tokens) do
  local lease, at = found[i], 2 + 5 * i
  if not lease then
    answers[i] = -1
  elseif lease.wire == 'd' and num(ARGV[at + 2]) == 1 then
    answers[i] = 0  -- asked again after an unknown outcome
  else
    answers[i] = again(token, lease, num(ARGV[at]), ARGV[at + 1], num(ARGV[at + 2]), ARGV[at + 3])
  end
end
save()
return answers
