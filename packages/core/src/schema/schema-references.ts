// Resolves the references of one schema: by pointers, anchors and addresses inside it. Nothing is fetched, so other
// references are unknown.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { findDialect } from './schema-dialect.ts'
import { listInner } from './schema-walk.ts'

/** A schema with its own address, and its contents up to the next such schema. */
export interface Resource {
  readonly root: JsonObject
  readonly address: string
  readonly anchors: Map<string, JsonObject>
  /** Names of anchors that an outer schema may override. */
  readonly dynamic: Set<string>
  /** Nested resources by root. */
  readonly inner: ReadonlyMap<JsonObject, Resource>
  /** A part with its own definitions, and the resource around it. */
  readonly holder?: { readonly schema: JsonObject; readonly around: Resource }
}

/** Maximum parts with definitions around a reference. */
const HOLDERS_MAX = 20

export interface Target {
  readonly schema: JsonValue
  readonly resource: Resource
  /** Last step of the path, for a definition's name. */
  readonly name: string
}

export interface References {
  readonly resource: Resource
  /** @param reference `$ref`, or another keyword and a blank before the reference */
  readonly resolve: (reference: string, from: Resource) => Target | undefined
  /** References to the definitions of the root. */
  readonly definitions: Map<JsonValue, string>
  /** Names used in `$defs`. */
  readonly taken: ReadonlySet<string>
}

export function indexReferences(root: JsonObject): References {
  const inner = new Map<JsonObject, Resource>()
  const addresses = new Map<string, Resource>()
  const makeResource = (schema: JsonObject, address: string): Resource => {
    const made: Resource = { root: schema, address, anchors: new Map(), dynamic: new Set(), inner }
    for (const known of [address, withoutEnd(address)]) if (!addresses.has(known)) addresses.set(known, made)
    inner.set(schema, made)
    return made
  }
  const hasOldIds = /^draft-0[34]$/.test(findDialect(root))
  const readId = (schema: JsonObject): string => textOf(schema['$id'] ?? (hasOldIds ? schema['id'] : undefined))
  const resource = makeResource(root, readId(root))
  addresses.set('', resource)
  const seen = new Set<JsonObject>()
  const open: { readonly schema: JsonObject; readonly around: Resource }[] = [{ schema: root, around: resource }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { schema, around } = next
    if (seen.has(schema)) continue
    seen.add(schema)
    const id = readId(schema)
    const isAddress = id !== '' && !id.startsWith('#') && schema !== root
    const own = isAddress
      ? makeResource(schema, joinAddress(around.address, id))
      : holdDefinitions(schema, around, inner)
    if (isAddress && !addresses.has(id)) addresses.set(id, own)
    noteAnchors(own, schema, id)
    for (const { value } of listInner(schema)) if (isJsonObject(value)) open.push({ schema: value, around: own })
  }
  const resolve = createResolver({ root: resource, addresses })
  return { resource, resolve, ...nameDefinitions(root) }
}

/** The resource of a part: its own one if it has definitions. */
function holdDefinitions(schema: JsonObject, around: Resource, inner: Map<JsonObject, Resource>): Resource {
  if (schema === around.root || !('$defs' in schema || 'definitions' in schema)) return around
  const made: Resource = { ...around, holder: { schema, around } }
  inner.set(schema, made)
  return made
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function withoutEnd(address: string): string {
  return address.replace(/#$/, '')
}

function noteAnchors(resource: Resource, schema: JsonObject, id: string): void {
  const { $anchor: anchor, $dynamicAnchor: dynamic } = schema
  const old = id.startsWith('#') && !id.startsWith('#/') ? id.slice(1) : ''
  for (const name of [textOf(anchor), textOf(dynamic), old])
    if (name !== '' && !resource.anchors.has(name)) resource.anchors.set(name, schema)
  if (typeof dynamic === 'string') resource.dynamic.add(dynamic)
}

/** Resolves an address in a schema whose own address is `base`. */
function joinAddress(base: string, address: string): string {
  if (base === '' || /^[a-z][a-z\d+.-]*:/i.test(address)) return address
  const [, origin = '', path = ''] = /^([a-z][a-z\d+.-]*:\/\/[^/]*)?(.*)$/i.exec(withoutEnd(base)) ?? []
  if (address.startsWith('/')) return `${origin}${address}`
  return `${origin}${path.slice(0, path.lastIndexOf('/') + 1) || '/'}${address.replace(/^(?:\.\/)+/, '')}`
}

interface Known {
  readonly root: Resource
  readonly addresses: ReadonlyMap<string, Resource>
}

function createResolver({ root, addresses }: Known): References['resolve'] {
  const anchors = indexAnchors(addresses)
  return (reference, from) => {
    const [, keyword = '', plain = reference] = /^(\$(?:dynamic|recursive)Ref) (.*)$/s.exec(reference) ?? []
    const at = plain.indexOf('#')
    const address = at < 0 ? plain : plain.slice(0, at)
    const fragment = at < 0 ? '' : plain.slice(at + 1)
    const resource =
      address === '' ? from : (addresses.get(joinAddress(from.address, address)) ?? addresses.get(address))
    if (!resource) return undefined
    if (keyword === '$recursiveRef') return findOutermost(root, resource)
    if (fragment === '') return { schema: resource.root, resource, name: lastStep(address) }
    if (!fragment.startsWith('/')) return findAnchor({ root, anchors }, resource, fragment, keyword !== '')
    // Bundled schemas often mean the whole schema, although the part has an address.
    return followPointer(resource, fragment) ?? followPointer(root, fragment) ?? followInParts(resource, fragment)
  }
}

/** Programs compose schemas that have definitions, and leave the references as they are. */
function followInParts(from: Resource, fragment: string): Target | undefined {
  let { holder } = from
  for (let levels = 0; holder && levels < HOLDERS_MAX; levels += 1) {
    const found = followPointer(from, fragment, holder.schema)
    if (found) return found
    holder = holder.around.holder
  }
  return undefined
}

interface Anchored {
  readonly root: Resource
  /** Resources by anchor name. */
  readonly anchors: ReadonlyMap<string, readonly Resource[]>
}

function indexAnchors(addresses: Known['addresses']): Anchored['anchors'] {
  const index = new Map<string, Resource[]>()
  for (const resource of new Set(addresses.values()))
    for (const name of resource.anchors.keys()) {
      const holders = index.get(name)
      if (holders) holders.push(resource)
      else index.set(name, [resource])
    }
  return index
}

function lastStep(text: string): string {
  return text.split('/').at(-1) ?? ''
}

function findOutermost(root: Resource, resource: Resource): Target {
  const isRecursive = resource.root['$recursiveAnchor'] === true && root.root['$recursiveAnchor'] === true
  const outermost = isRecursive ? root : resource
  return { schema: outermost.root, resource: outermost, name: lastStep(outermost.address) }
}

/**
 * A dynamic anchor refers to the outermost schema. If several schemas have one and the root has none, it is ambiguous.
 */
function findAnchor(
  { root, anchors: known }: Anchored,
  resource: Resource,
  name: string,
  isDynamic: boolean,
): Target | undefined {
  const all = known.get(name) ?? []
  const isStatic = !isDynamic || (resource.anchors.has(name) && !resource.dynamic.has(name))
  const holders = isStatic ? [resource, ...all] : [root, ...(all.length === 1 ? all : [])]
  const holder = holders.find(({ anchors }) => anchors.has(name))
  const schema = holder?.anchors.get(name)
  return holder && schema && { schema, resource: holder, name }
}

function followPointer(from: Resource, pointer: string, start: JsonValue = from.root): Target | undefined {
  let [at, resource, name]: [JsonValue | undefined, Resource, string] = [start, from, '']
  for (const step of pointer.slice(1).split('/')) {
    name = unescapeStep(decodeStep(step))
    const raw = unescapeStep(step)
    at = enter(at, name) ?? enter(at, raw)
    if (at === undefined) return undefined
    if (isJsonObject(at)) resource = from.inner.get(at) ?? resource
  }
  return typeof at === 'boolean' || isJsonObject(at) ? { schema: at, resource, name } : undefined
}

function enter(at: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(at)) return /^\d+$/.test(name) ? (at as readonly JsonValue[])[Number(name)] : undefined
  return isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Returns the step unchanged if it is not valid percent-encoding, since some libraries do not escape `%`. */
function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Names with other characters are read in several ways, so such a definition is renamed. */
const PLAIN_NAME = /^[\w.-]+$/

function nameDefinitions(root: JsonObject): Pick<References, 'definitions' | 'taken'> {
  const definitions = new Map<JsonValue, string>()
  const taken = new Set<string>()
  for (const group of ['$defs', 'definitions']) {
    const all = root[group]
    if (!isJsonObject(all)) continue
    const names = new Set(Object.keys(all))
    const numbers = new Map<string, number>()
    for (const [name, schema] of Object.entries(all)) {
      let plain = name
      if (!PLAIN_NAME.test(name)) {
        const wished = name.replaceAll(/[^\w.-]+/g, '_').slice(0, 64)
        plain = findFreeName(wished, names, numbers)
        names.add(plain)
      }
      if (group === '$defs') taken.add(plain)
      if (isJsonObject(schema) && !definitions.has(schema)) definitions.set(schema, `#/${group}/${plain}`)
    }
  }
  return { definitions, taken }
}

/** @param numbers next number to try per wished name */
export function findFreeName(wished: string, taken: ReadonlySet<string>, numbers: Map<string, number>): string {
  let name = wished
  let count = numbers.get(wished) ?? 2
  for (; taken.has(name); count += 1) name = `${wished}_${count}`
  numbers.set(wished, count)
  return name
}
