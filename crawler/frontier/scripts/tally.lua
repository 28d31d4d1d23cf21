-- what people ask about a scope: URLs finished (done) and without a try left (failed); and how many were finished lately,
-- in seven slots of ten seconds
local RING, RING_MS = 7, 10000
local tallies, tallied = {done = {}, failed = {}}, {done = {}, failed = {}}
local function tally(name, scope, n)
  local sums, names = tallies[name], tallied[name]
  if not sums[scope] then names[#names + 1] = scope end
  sums[scope] = (sums[scope] or 0) + n
end
local function save_tallies()
  for name, names in pairs(tallied) do
    if #names > 0 then
      local had, sums, row, k, put = call('HMGET', P .. name, unpack(names)), tallies[name], {}, 0, wide
      for i = 1, #names do
        local scope = names[i]
        if had[i] then put = plain end
        local n = (had[i] or 0) + sums[scope]
        if n > 0 then row[k + 1], row[k + 2], k = scope, n, k + 2 else call('HDEL', P .. name, scope) end
      end
      if k > 0 then put(P .. name, 'HSET', 'HDEL', unpack(row)) end
    end
  end
  tallies, tallied = {done = {}, failed = {}}, {done = {}, failed = {}}
end
-- So many were finished now, so many of them done.
local function finished(n, done)
  local slot = integer(math.floor(now / RING_MS))
  local field = 'lately' .. slot % RING
  local before = call('HMGET', ST, field, 'done')
  local at, had = match(before[1] or '', '^(%d+):(%d+)$')
  call('HSET', ST, field, slot .. ':' .. integer((at == slot and num(had) or 0) + n), 'done', num(before[2] or 0) + done)
end
