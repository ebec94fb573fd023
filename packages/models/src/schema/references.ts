// `$ref` inside of one schema. Nothing is fetched: a reference to anywhere else is not known.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'

/** What a reference leads to, unless it leads in a circle of nothing but references. */
export function resolveReference(root: JsonObject, reference: string): JsonValue | undefined {
  const passed = new Set<string>()
  const found = target(root, reference)
  for (let at = found; isJsonObject(at) && typeof at['$ref'] === 'string'; at = target(root, at['$ref'])) {
    if (passed.has(at['$ref'])) return undefined
    passed.add(at['$ref'])
  }
  return found
}

/** The schema without definitions that nothing leads to: libraries ship hundreds of them with each schema. */
export function withoutUnusedDefinitions(root: JsonObject): JsonObject {
  const { $defs, definitions, ...rest } = root
  const used = new Set<JsonValue>()
  const open: JsonValue[] = [rest]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const reference = isJsonObject(next) ? next['$ref'] : undefined
    const found = typeof reference === 'string' ? target(root, reference) : undefined
    if (found !== undefined && !used.has(found)) {
      used.add(found)
      open.push(found)
    }
    open.push(...(Object.values(next) as JsonValue[]))
  }
  return { ...rest, ...pickUsed({ $defs, definitions }, used) }
}

function pickUsed(groups: Readonly<Record<string, JsonValue | undefined>>, used: ReadonlySet<JsonValue>): JsonObject {
  const kept = Object.entries(groups).flatMap(([keyword, group]): [string, JsonValue][] => {
    if (!isJsonObject(group)) return []
    const entries = Object.entries(group).filter(([, one]) => used.has(one))
    return entries.length === 0 ? [] : [[keyword, Object.fromEntries(entries)]]
  })
  return Object.fromEntries(kept)
}

/** What a pointer such as `#/$defs/node` leads to in `root`; undefined when there is no such place. */
function target(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return anchored(root, reference)
  let at: JsonValue | undefined = root
  for (const step of reference.slice(2).split('/')) {
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = (at as readonly JsonValue[])[Number(key)]
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

/** Libraries that write a `%` of a name as it is lose no more than that. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** `#name`, as `$anchor` gives it to a definition. */
function anchored(root: JsonObject, reference: string): JsonValue | undefined {
  const definitions = [root['$defs'], root['definitions']].flatMap((found) =>
    isJsonObject(found) ? Object.values(found) : [],
  )
  return definitions.find(
    (one) => isJsonObject(one) && (one['$anchor'] === reference.slice(1) || one['$id'] === reference),
  )
}
