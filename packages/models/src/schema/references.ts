// `$ref` inside of one schema. Nothing is fetched: a reference to anywhere else is not known.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'

/** What a pointer such as `#/$defs/node` leads to in `root`; undefined when there is no such place. */
export function resolveReference(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return anchored(root, reference)
  let at: JsonValue | undefined = root
  for (const step of reference.slice(2).split('/')) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = (at as readonly JsonValue[])[Number(key)]
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
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
