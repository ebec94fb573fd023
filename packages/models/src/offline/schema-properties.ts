// A tool's arguments as the offline model sees them: for each property what kind of value it wants, judged by its
// schema, its name and its description.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'
import { splitWords, stem } from './words.ts'

export type Role = 'path' | 'repository' | 'owner' | 'url' | 'email' | 'date' | 'search' | 'message' | 'id' | 'noun'

export interface Property {
  readonly name: string
  readonly schema: JsonObject
  readonly type: string
  readonly isRequired: boolean
  readonly role: Role
  /** Whether the name itself says the role; else the description does, which often speaks of other things too. */
  readonly isRoleNamed: boolean
  /** Stems of the name's words. */
  readonly stems: readonly string[]
  readonly description: string
}

const ROLE_WORDS: readonly (readonly [Role, string])[] = [
  ['path', 'path file folder directory dir filename filepath document'],
  ['owner', 'owner organisation organization org'],
  ['repository', 'repository repo'],
  ['url', 'url uri link website'],
  ['email', 'email mail recipient'],
  ['date', 'date day since until when'],
  ['search', 'pattern query search term phrase keyword keywords regex regexp expression needle text'],
  ['message', 'prompt message body question goal instruction task comment content'],
  ['id', 'id identifier key ticket uuid'],
]

export function propertiesOf(inputSchema: JsonObject): readonly Property[] {
  const { properties, required } = inputSchema
  if (!isJsonObject(properties)) return []
  const requiredNames: readonly JsonValue[] = Array.isArray(required) ? required : []
  return Object.entries(properties).map(([name, given]) => {
    const schema = withoutNull(isJsonObject(given) ? given : {})
    const description = typeof schema['description'] === 'string' ? schema['description'] : ''
    const type = typeof schema['type'] === 'string' ? schema['type'] : 'any'
    const isRequired = requiredNames.includes(name) && !('default' in schema)
    return {
      name,
      schema,
      type,
      isRequired,
      description,
      stems: splitWords(name).map(stem),
      role: roleOf(name, description, schema),
      isRoleNamed: roleOfWords(splitWords(name)) !== undefined,
    }
  })
}

function roleOf(name: string, description: string, schema: JsonObject): Role {
  const format = schema['format']
  if (format === 'uri' || format === 'email') return format === 'uri' ? 'url' : 'email'
  if (format === 'date' || format === 'date-time') return 'date'
  return roleOfWords(splitWords(name)) ?? roleOfWords(splitWords(description)) ?? 'noun'
}

function roleOfWords(words: readonly string[]): Role | undefined {
  const stems = new Set(words.map(stem))
  return ROLE_WORDS.find(([, list]) => list.split(' ').some((word) => stems.has(stem(word))))?.[0]
}

/** The schema of the value itself where null is allowed too. */
function withoutNull(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema
  if (Array.isArray(type)) return { ...schema, type: type.find((name: JsonValue) => name !== 'null') ?? 'null' }
  if (!Array.isArray(anyOf)) return schema
  const first = anyOf.find((part: JsonValue): part is JsonObject => isJsonObject(part) && part['type'] !== 'null')
  return first ? { ...schema, ...first } : schema
}
