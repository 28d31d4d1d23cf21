-- what people ask about a scope: URLs finished (done) and without a try left (failed); and how many were finished lately,
-- in seven slots of ten seconds
local RING, RING_MS = 7, 10000
local tallies = {done = {}, failed = {}}
local function tally(name, scope, n) tallies[name][scope] = (tallies[name][scope] or 0) + n end
local function save_tallies()
  for name, by_scope in pairs(tallies) do
    local names, row, k, put = {}, {}, 0, wide
    for scope in pairs(by_scope) do names[#names + 1] = scope end
    if #names > 0 then
      local had = call('HMGET', P .. name, unpack(names))
      for i, scope in ipairs(names) do
        if had[i] then put = plain end
        local n = num(had[i] or 0) + by_scope[scope]
        if n > 0 then k = k + 2; row[k - 1], row[k] = scope, n else call('HDEL', P .. name, scope) end
      end
      if k > 0 then put(P .. name, 'HSET', 'HDEL', unpack(row)) end
    end
  end
  tallies = {done = {}, failed = {}}
end
-- So many were finished now, so many of them done.
local function finished(n, done)
  local slot = integer(math.floor(now / RING_MS))
  local field = 'lately' .. slot % RING
  local before = call('HMGET', ST, field, 'done')
  local at, had = match(before[1] or '', '^(%d+):(%d+)$')
  call('HSET', ST, field, slot .. ':' .. integer((at == slot and num(had) or 0) + n), 'done', num(before[2] or 0) + done)
end
