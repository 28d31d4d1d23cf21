-- EXTEND: the worker is alive. ARGV 5 lease (ms), then tokens. Returns the tokens that are lost.
local lost = {}
for i = 6, #ARGV do
  if call('HEXISTS', LEASE, ARGV[i]) == 1 then
    call('ZADD', LEASES, 'XX', now + num(ARGV[5]), ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
