// Words as the offline model compares them: split, lower case, without their endings, with a few groups of words that
// people use for the same thing. Plain English; it knows nothing of any tool.

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these those here there it its is are was were be been am do does did have has had can could would should will ' +
    'may might must i me my we us our you your he she they them their what which who whom whose when how why and or not no of in on at to ' +
    'from by with for about as into over under than then so if but also all any some each every please just only want need like let ' +
    'tell give help s t re ve ll d m okay ok hi hello hey thanks thank now still ever many much'
  ).split(' '),
)

/** Words of one line are taken for each other, at less than the full weight. */
const SAME_MEANING: readonly string[] = [
  'search find locate look mention contain occur match seek scan lookup discover where use reference query hit',
  'show read view display open print get fetch content see inspect retrieve excerpt',
  'list enumerate browse index overview structure tree',
  'folder directory dir',
  'file document page',
  'line row span range passage',
  'issue ticket bug',
  'event appointment meeting schedule calendar agenda',
  'weather forecast temperature rain',
  'person people contact user member employee',
  'repository repo project',
  'price cost quote rate',
  'text phrase word string',
  'status state progress',
  'history log past recent',
]

/** The parts of names and sentences: `getUserById`, `user.by_id` and `PDFFile` split as one would read them. */
export function splitWords(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Takes off the common endings of English; what is left need not be a word. */
export function stem(word: string): string {
  let root = word
  if (root.length > 4 && root.endsWith('ies')) root = `${root.slice(0, -3)}y`
  else if (root.length > 4 && /(ches|shes|sses|xes)$/.test(root)) root = root.slice(0, -2)
  else if (root.length > 3 && root.endsWith('s') && !root.endsWith('ss') && !root.endsWith('us'))
    root = root.slice(0, -1)
  if (root.length > 5 && root.endsWith('ing')) root = root.slice(0, -3)
  else if (root.length > 4 && root.endsWith('ed')) root = root.slice(0, -2)
  if (root.length > 3 && root.at(-1) === root.at(-2)) root = root.slice(0, -1)
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root
}

/** The stems of the words that say something. */
export function tellingStems(text: string): readonly string[] {
  return splitWords(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem)
}

/** The groups of meaning that a stem belongs to, by number. */
export function meaningsOf(stemmed: string): readonly number[] {
  return MEANINGS.get(stemmed) ?? []
}

const MEANINGS: ReadonlyMap<string, readonly number[]> = buildMeanings()

function buildMeanings(): ReadonlyMap<string, readonly number[]> {
  const meanings = new Map<string, readonly number[]>()
  for (const [group, line] of SAME_MEANING.entries())
    for (const word of line.split(' ')) meanings.set(stem(word), [...(meanings.get(stem(word)) ?? []), group])
  return meanings
}
