-- NACK: this try failed (or was never begun). ARGV 5 tries, then (token, not before ms, reason, counts 1|0, sent or '')*
-- Returns per token 1 queued again, 0 no try left (the lease stays until it is acknowledged), -1 the lease had expired.
local tries, answers = num(ARGV[5]), {}
for i = 6, #ARGV, 5 do
  local token, at, reason, counts, sent = ARGV[i], num(ARGV[i + 1]), ARGV[i + 2], num(ARGV[i + 3]), ARGV[i + 4]
  local wire, scope, score, slot, member = read_lease(token)
  local answer = -1
  if wire == 'd' and counts == 1 then
    answer = 0  -- asked again after an unknown outcome
  elseif wire then
    local attempts, holds, rest = split(member)
    local again = join(attempts + counts, holds, rest)
    hang_up(wire, scope, slot, sent, 0)
    because(scope, rest, reason)
    if counts == 1 and attempts + 1 >= tries then
      answer = 0
      write_lease(token, 'd', scope, score, slot, again)
    else
      answer = 1
      forget(token)
      count('queued', 1)
      if at > now then park(LATER, at, scope, score, again) else push(scope, score, again) end
    end
    refresh(scope)
  end
  answers[#answers + 1] = answer
end
flush()
return answers
