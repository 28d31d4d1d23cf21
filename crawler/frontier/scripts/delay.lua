-- DELAY: what one source asks for. ARGV 5 scope  6 source  7 ms, 0 = nothing (any more). Returns the scope's own delay.
-- The longest of all sources holds; a source that goes takes only its own word back.
local scope, all, longest = ARGV[5], P .. 'delays', 0
if num(ARGV[7]) > 0 then
  call('HSET', all, scope .. '\t' .. ARGV[6], ARGV[7])
else
  call('HDEL', all, scope .. '\t' .. ARGV[6])
end
for _, source in ipairs({'allowlist', 'robots'}) do
  longest = math.max(longest, num(call('HGET', all, scope .. '\t' .. source) or 0))
end
if longest > 0 then call('HSET', OWN, scope, longest) else call('HDEL', OWN, scope) end
return longest
