// Fills a tool's arguments with what a sentence offers. It says what is missing instead of inventing it.
import type { JsonObject, JsonValue, ToolDeclaration } from '@baton/core'
import type { Found, FoundKind } from './find-values.ts'
import { looksLikeFile, textAround } from './find-values.ts'
import { fillNumbers } from './fill-numbers.ts'
import type { Property, Role } from './schema-properties.ts'
import { propertiesOf } from './schema-properties.ts'
import { findFolderWord, findSearchTerm, findThing } from './find-phrases.ts'
import { splitWords, stem } from './words.ts'

export interface Filled {
  readonly arguments: JsonObject
  /** Names of required properties that nothing was found for. */
  readonly missing: readonly string[]
  /** How much of what was found in the sentence has a place in the arguments. */
  readonly used: readonly Found[]
  /** Plain words of the sentence that became arguments. */
  readonly phrases: readonly string[]
}

const KINDS: Readonly<Record<Role, readonly FoundKind[]>> = {
  path: ['path', 'quoted'],
  repository: ['path'],
  owner: ['path'],
  url: ['url'],
  email: ['email'],
  date: ['date'],
  search: ['quoted', 'identifier', 'name', 'email', 'url', 'path'],
  message: ['quoted'],
  id: ['identifier', 'quoted', 'number'],
  noun: ['quoted', 'name', 'identifier'],
}

export function fillArguments(tool: ToolDeclaration, text: string, found: readonly Found[]): Filled {
  const properties = propertiesOf(tool.inputSchema)
  const filler = new Filler(tool, text, found, properties)
  // What is required chooses first, and what can be told apart by its form before what takes any word.
  const rank = (property: Property): number =>
    (property.isRequired ? 0 : 100) + Object.keys(KINDS).indexOf(property.role)
  for (const property of [...properties].sort((left, right) => rank(left) - rank(right))) filler.fill(property)
  return filler.finish()
}

class Filler {
  readonly #text: string
  readonly #found: readonly Found[]
  readonly #properties: readonly Property[]
  readonly #values = new Map<string, JsonValue>()
  readonly #used = new Set<Found>()
  readonly #phrases: string[] = []
  readonly #around: string
  readonly #toolStems: ReadonlySet<string>

  constructor(tool: ToolDeclaration, text: string, found: readonly Found[], properties: readonly Property[]) {
    this.#text = text
    this.#around = textAround(text, found)
    this.#toolStems = new Set(splitWords(`${tool.name} ${tool.description}`).map(stem))
    this.#found = found
    this.#properties = properties
    const numbers = fillNumbers(text, found, properties)
    for (const [name, value] of numbers.values) this.#values.set(name, value)
    for (const entry of numbers.used) this.#used.add(entry)
  }

  fill(property: Property): void {
    if (this.#values.has(property.name)) return
    const value = this.#valueOf(property)
    if (value !== undefined) this.#values.set(property.name, value)
  }

  finish(): Filled {
    const named = this.#properties.filter((property) => this.#values.has(property.name))
    return {
      // In the order of the schema, so that the same request gives the same text.
      arguments: Object.fromEntries(named.map(({ name }) => [name, this.#values.get(name) ?? null])),
      missing: this.#properties
        .filter(({ name, isRequired }) => isRequired && !this.#values.has(name))
        .map(({ name }) => name),
      used: [...this.#used],
      phrases: this.#phrases,
    }
  }

  #valueOf(property: Property): JsonValue | undefined {
    const { schema, type, isRequired } = property
    if (schema['const'] !== undefined) return isRequired ? schema['const'] : undefined
    if (Array.isArray(schema['enum'])) return this.#chosen(schema['enum'])
    if (type === 'boolean') return this.#isMentioned(property) ? true : isRequired ? false : undefined
    if (type === 'array') return this.#list(property)
    return type === 'string' || type === 'any' ? this.#textOf(property) : undefined
  }

  #chosen(options: readonly JsonValue[]): JsonValue | undefined {
    const said = new Set(splitWords(this.#text).map(stem))
    return options.find(
      (option) => typeof option === 'string' && splitWords(option).every((word) => said.has(stem(word))),
    )
  }

  #isMentioned(property: Property): boolean {
    const said = new Set(splitWords(this.#text).map(stem))
    return property.stems.every((word) => said.has(word))
  }

  #list(property: Property): JsonValue | undefined {
    if (isGuess(property)) return undefined
    const texts = this.#candidates(property).map((entry) => this.#use(entry))
    return texts.length > 0 ? texts : undefined
  }

  #textOf(property: Property): string | undefined {
    const { role, isRequired } = property
    if (role === 'repository' || role === 'owner') return this.#repositoryPart(property)
    if (role === 'message' && isRequired) return this.#text
    const candidates = this.#candidates(property)
    const best = isGuess(property) ? undefined : (this.#rightForm(property, candidates) ?? candidates[0])
    if (best) return this.#shaped(property, this.#use(best))
    const phrase = this.#phraseOf(property)
    if (phrase === undefined || this.#phrases.includes(phrase)) return undefined
    this.#phrases.push(phrase)
    return this.#shaped(property, phrase)
  }

  #phraseOf({ role, isRequired, isRoleNamed, stems }: Property): string | undefined {
    if (role === 'path') return isRequired || isRoleNamed ? findFolderWord(this.#around, this.#toolStems) : undefined
    if (!isRequired) return undefined
    if (role === 'search') return findSearchTerm(this.#text)
    return role === 'noun' ? findThing(this.#text, stems) : undefined
  }

  /** Those of the kinds that the role takes, the best kind first, which nothing else has taken. */
  #candidates({ role, stems }: Property): readonly Found[] {
    const free = this.#found.filter((entry) => !this.#used.has(entry) && this.#canBeText(entry, stems))
    return KINDS[role].flatMap((kind) => free.filter((entry) => entry.kind === kind))
  }

  /** A number is a name only where it is called one: "#3", "ticket 3"; else it says how many. */
  #canBeText({ kind, value, start }: Found, stems: readonly string[]): boolean {
    if (kind !== 'number' || value.startsWith('#')) return true
    const before = splitWords(this.#text.slice(0, start)).at(-1)
    return before !== undefined && (stems.includes(stem(before)) || before === 'number' || before === 'id')
  }

  #rightForm(property: Property, candidates: readonly Found[]): Found | undefined {
    if (property.role !== 'path') return undefined
    const words = new Set(splitWords(`${property.name} ${property.description}`).map(stem))
    const wantsFile = words.has(stem('file')) && !words.has(stem('folder')) && !words.has(stem('directory'))
    return candidates.find((entry) => looksLikeFile(entry.value) === wantsFile)
  }

  /** `owner/repo` as one text, or divided where the tool has a property for each part. */
  #repositoryPart(property: Property): string | undefined {
    const entry = this.#found.find(({ kind, value }) => kind === 'path' && /^[\w.-]+\/[\w.-]+$/.test(value))
    if (!entry) return undefined
    this.#used.add(entry)
    const isDivided = this.#properties.some((other) => other.role === 'owner')
    const [owner, repository] = entry.value.split('/')
    if (!isDivided) return entry.value
    return property.role === 'owner' ? owner : repository
  }

  #use(entry: Found): string {
    this.#used.add(entry)
    return entry.value.replace(/^#/, '')
  }

  /** Text for a regular expression stands for itself, unless it was written between slashes. */
  #shaped(property: Property, value: string): string {
    if (!/regex|regular expression/i.test(`${property.name} ${property.description}`)) return value
    const written = /^\/(.+)\/$/.exec(value)
    return written?.[1] ?? value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  }
}

/** A free word in an optional place would be a guess, and it would change what is asked for. */
function isGuess({ role, isRequired, isRoleNamed }: Property): boolean {
  return !isRequired && (!isRoleNamed || ['search', 'noun', 'message', 'id'].includes(role))
}
