// Assembles arguments that Vertex streams in pieces: each names a place by JSON path and carries a value or part of a
// string. Pure. A piece that fits nowhere makes the whole call malformed; nothing is guessed.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

/** Uses maps, because a key may be `__proto__`. */
type Node = Map<string, Node> | Node[] | string | number | boolean | null
type Step = string | number

/** Maximum steps of a path. */
const DEPTH_MAX = 64

export class PartialArguments {
  readonly #root = new Map<string, Node>()
  /** Places whose string continues in a later piece. */
  readonly #open = new Set<string>()
  /** False once a piece did not fit. */
  isReadable = true

  /** Sets arguments that arrived complete. */
  set(args: JsonObject): void {
    for (const [key, value] of Object.entries(args)) this.#root.set(key, createNode(value))
  }

  /** Adds one PartialArg: `{jsonPath, stringValue | numberValue | boolValue | nullValue, willContinue}`. */
  push(piece: JsonValue): void {
    const given = isJsonObject(piece) ? piece : {}
    const path = given['jsonPath']
    const steps = typeof path === 'string' ? listSteps(path) : undefined
    const value = readValue(given)
    if (steps === undefined || value === undefined || !this.#place(steps, value)) {
      this.isReadable = false
      return
    }
    const place = JSON.stringify(steps)
    if (given['willContinue'] === true) this.#open.add(place)
    else this.#open.delete(place)
  }

  get isEmpty(): boolean {
    return this.#root.size === 0
  }

  /** Whether every string is complete. */
  get isWhole(): boolean {
    return this.isReadable && this.#open.size === 0
  }

  toString(): string {
    return readText(this.#root)
  }

  #place(steps: readonly Step[], value: Node): boolean {
    const last = steps.at(-1)
    let node: Node = this.#root
    for (const [index, step] of steps.slice(0, -1).entries()) {
      const inner: Node | undefined = findChild(node, step) ?? this.#grow(node, step, steps[index + 1])
      if (inner === undefined) return false
      node = inner
    }
    if (last === undefined) return false
    const before = findChild(node, last)
    const goesOn = this.#open.has(JSON.stringify(steps))
    const next = goesOn && typeof before === 'string' && typeof value === 'string' ? before + value : value
    return put(node, last, next)
  }

  #grow(node: Node, step: Step, next: Step | undefined): Node | undefined {
    const made: Node = typeof next === 'number' ? [] : new Map<string, Node>()
    return put(node, step, made) ? made : undefined
  }
}

/** Parses `$.recipe.steps[0]`, which equals `$['recipe']['steps'][0]` (RFC 9535). */
function listSteps(path: string): readonly Step[] | undefined {
  if (!path.startsWith('$')) return undefined
  const steps: Step[] = []
  const step = /\.([^.[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
  step.lastIndex = 1
  while (step.lastIndex < path.length) {
    const found = step.exec(path)
    if (!found || steps.length >= DEPTH_MAX) return undefined
    const quoted = found[3] ?? found[4]
    if (quoted !== undefined) steps.push(quoted.replace(/\\(.)/g, '$1'))
    else steps.push(found[2] === undefined ? (found[1] ?? '') : Number(found[2]))
  }
  return steps.length === 0 ? undefined : steps
}

function readValue(piece: JsonObject): Node | undefined {
  const { stringValue, numberValue, boolValue } = piece
  if (typeof stringValue === 'string') return stringValue
  if (typeof numberValue === 'number') return numberValue
  if (typeof boolValue === 'boolean') return boolValue
  return 'nullValue' in piece ? null : undefined
}

function findChild(node: Node, step: Step): Node | undefined {
  if (node instanceof Map) return node.get(String(step))
  return Array.isArray(node) && typeof step === 'number' ? node[step] : undefined
}

/** Lists grow by one item: a gap would be a value that the model never sent. */
function put(node: Node, step: Step, value: Node): boolean {
  if (node instanceof Map) {
    node.set(String(step), value)
    return true
  }
  if (!Array.isArray(node) || typeof step !== 'number' || step > node.length) return false
  node[step] = value
  return true
}

function createNode(value: JsonValue): Node {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(createNode)
  if (isJsonObject(value)) return new Map(Object.entries(value).map(([key, one]) => [key, createNode(one)]))
  // not a list or object, which the compiler misses because JsonValue's arrays are readonly
  return value as string | number | boolean | null
}

function readText(node: Node): string {
  if (Array.isArray(node)) return `[${node.map(readText).join(',')}]`
  if (!(node instanceof Map)) return JSON.stringify(node)
  return `{${[...node].map(([key, value]) => `${JSON.stringify(key)}:${readText(value)}`).join(',')}}`
}
