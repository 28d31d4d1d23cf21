-- DUE: how many URLs a sweep would bring back. ARGV 5 due until (ms)  6 at most n hashes  7 plan, as of SWEEP  8 hashes
-- that were looked at before. Reads only. Returns how many, and how many hashes were looked at.
local a, b, c = match(ARGV[7], '^(%S+) (%S+) (%S+)$')
plan = {num(a), num(b), num(c)}
local cutoff = num(ARGV[5])
local until_ = call('HGET', ST, 'recrawl') == ARGV[7] and ARGV[5] or '+inf'  -- other intervals than before: all of them
local places, found = call('ZRANGEBYSCORE', DUE, '-inf', until_, 'LIMIT', ARGV[8], ARGV[6]), 0
for _, place in ipairs(places) do
  for _, entry in ipairs(call('HVALS', vkey(num(place)))) do
    local done, visit, _, rest = open_visit(entry)
    if done and due_at(visit, rest) <= cutoff then found = found + 1 end
  end
end
return {found, #places}
