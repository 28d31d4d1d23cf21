-- RECALL: what is remembered of these URLs. ARGV 5.. : url hashes. Returns per URL its visit, '' for none.
local answers = {}
for i = 5, #ARGV do
  local entry = call('HGET', vkey(vhome(ARGV[i])), ARGV[i])
  local visit = ''
  if entry then
    local _, found = open_visit(entry)
    visit = found
  end
  answers[#answers + 1] = visit
end
return answers
