-- RECLAIM: leases of a process that is certainly gone. ARGV 5 what its leases bear  6.. : tokens. Returns how many there were.
local tokens, n = {}, 0
for i = 6, #ARGV do tokens[#tokens + 1] = ARGV[i] end
for _, payload in ipairs(#tokens > 0 and call('HMGET', LEASE, unpack(tokens)) or {}) do
  if payload then n = n + 1 end
end
reclaim(tokens)
is_dead(ARGV[5])
save()
return n
