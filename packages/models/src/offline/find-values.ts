// Finds in a sentence what could be an argument: quoted text, paths, addresses, numbers, identifiers, names.

export type FoundKind = 'quoted' | 'url' | 'email' | 'date' | 'path' | 'range' | 'number' | 'identifier' | 'name'

export interface Found {
  readonly kind: FoundKind
  readonly value: string
  readonly start: number
  readonly end: number
}

/** In the order in which they claim characters: what stands in quotes is not also a path. */
const PATTERNS: readonly { readonly kind: FoundKind; readonly pattern: RegExp }[] = [
  { kind: 'quoted', pattern: /"([^"]+)"|“([^”]+)”|`([^`]+)`|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu },
  { kind: 'url', pattern: /\bhttps?:\/\/[^\s<>"')]+[^\s<>"').,;:!?]/gu },
  { kind: 'email', pattern: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu },
  {
    kind: 'date',
    pattern:
      /(?<![\w./-])(?:\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?|today|tomorrow|yesterday|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?![\w/-]|\.\w)/giu,
  },
  { kind: 'range', pattern: /\b\d+\s*(?:to|until|till|through|and|-|–|\.\.)\s*\d+\b/giu },
  // A slash between names, or a name with an ending that has a letter in it, or a name that begins with a dot.
  {
    kind: 'path',
    pattern:
      /(?<![\p{L}\p{N}_@.])(?:\.{0,2}\/)?[\p{L}\p{N}_@.-]+(?:\/[\p{L}\p{N}_@.-]+)+\/?|(?<![\p{L}\p{N}_.])[\p{L}\p{N}_-]+\/(?![\p{L}\p{N}])|(?<![\p{L}\p{N}_.])[\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)*\.(?=\w*[A-Za-z])\w{1,10}\b(?!\()/gu,
  },
  { kind: 'path', pattern: /\b(?:readme|license|changelog|makefile|dockerfile)\b/giu },
  { kind: 'number', pattern: /(?<![\p{L}\p{N}_.-])#?-?\d+(?:\.\d+)?(?![\p{L}\p{N}_-])/gu },
  // Inner capitals, underscores, letters with digits, all capitals, or something that is called: `run()`.
  {
    kind: 'identifier',
    pattern: /\b(?:\p{L}+\p{Ll}\p{Lu}\w*|\p{Lu}{2,}\w*|\w+_\w+|(?=[\w-]*\d)(?=[\w-]*\p{L})[\w-]+|\w+(?=\(\)))\b/gu,
  },
  { kind: 'name', pattern: /(?<=[\p{L}\p{N},] )\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)*/gu },
]

/** All that was found, in the order of the text; nothing overlaps. */
export function findValues(text: string): readonly Found[] {
  const found: Found[] = []
  for (const { kind, pattern } of PATTERNS)
    for (const match of text.matchAll(pattern)) {
      const value = match.slice(1).find((group) => group !== undefined) ?? match[0]
      const known = kind === 'path' ? FILE_NAMES[value.toLowerCase()] : undefined
      const entry = { kind, value: known ?? value.trim(), start: match.index, end: match.index + match[0].length }
      const isTaken = found.some((other) => entry.start < other.end && other.start < entry.end)
      if (!isTaken && entry.value !== '' && !(kind === 'path' && isAbbreviation(entry.value))) found.push(entry)
    }
  return found.sort((left, right) => left.start - right.start)
}

/** The text with blanks in the place of what was found. */
export function textAround(text: string, found: readonly Found[]): string {
  let rest = text
  for (const { start, end } of found) rest = rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end)
  return rest
}

/** Files that people name without their ending, as they are called nearly everywhere. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  readme: 'README.md',
  license: 'LICENSE',
  changelog: 'CHANGELOG.md',
  makefile: 'Makefile',
  dockerfile: 'Dockerfile',
}

/** True for a path whose last name has an ending, as files have. */
export function looksLikeFile(path: string): boolean {
  return /(^|\/)[^/]*\.[^/.]+$|(^|\/)(LICENSE|Makefile|Dockerfile)$/.test(path)
}

function isAbbreviation(value: string): boolean {
  return /^(e\.g|i\.e|etc|vs|a\.m|p\.m)$/i.test(value) || value === 'and/or'
}
