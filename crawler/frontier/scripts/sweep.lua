-- SWEEP: what is due goes back into its queue. ARGV 5 due until (ms)  6 at most n hashes  7 plan: first interval,
-- shortest, longest (s). Returns how many URLs moved, and 1 where more hashes are to be looked at.
if call('HGET', ST, 'recrawl') ~= ARGV[7] then
  call('HSET', ST, 'recrawl', ARGV[7])
  call('ZUNIONSTORE', DUE, 1, DUE, 'WEIGHTS', 0)  -- other intervals than before: look at everything once
end
local cutoff, n, moved = num(ARGV[5]), num(ARGV[6]), 0
local places = call('ZRANGEBYSCORE', DUE, '-inf', cutoff, 'LIMIT', 0, n)
for _, place in ipairs(places) do
  local all, soonest = call('HGETALL', vkey(num(place))), nil
  for i = 1, #all, 2 do
    local done, visit, scope, rest = open_visit(all[i + 1])
    if done then
      local at = due_at(visit, rest)
      if at <= cutoff then
        bring_back(num(place), all[i], all[i + 1], scope, rest)
        moved = moved + 1
      elseif not soonest or at < soonest then
        soonest = at
      end
    end
  end
  if soonest then call('ZADD', DUE, integer(soonest), place) else call('ZREM', DUE, place) end
end
save_tallies()
save()
return {moved, #places == n and 1 or 0}
