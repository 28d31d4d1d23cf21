-- RESERVE: one more request to a scope. ARGV 5 scope  6 slot the caller was granted (0 = none). Returns when (ms).
-- Whoever still owns the scope's latest slot goes at once, however late: nobody was promised a time in between.
local scope, slot = ARGV[5], num(ARGV[6])
local due = next_of(scope)
local at = (due <= now or due == slot) and now or due
not_before(scope, at + delay_of(scope))
if call('ZSCORE', READY, scope) then refresh(scope) end
return {at, at + delay_of(scope)}
