-- FINISH: the request is over, its page is still being worked on: the scope is free for the next request.
-- ARGV 5.. : (token, sent ms or '', latency ms)*
local touched, answers = {}, {}
for i = 5, #ARGV, 3 do
  local wire, scope, score, slot, member = read_lease(ARGV[i])
  if wire == 'o' then
    hang_up(wire, scope, slot, ARGV[i + 1], ARGV[i + 2])
    write_lease(ARGV[i], 'c', scope, score, slot, member)
    touched[scope] = true
  end
  answers[#answers + 1] = wire and 1 or 0
end
for scope in pairs(touched) do refresh(scope) end
return answers
