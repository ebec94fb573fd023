// GitHub's own description of the operations in the fake GitHub: finds the requested one, and validates requests and
// answers.
import type { Repository } from './repositories.ts'
import { readFileSync } from 'node:fs'
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { Ajv } from 'ajv'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonObject
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body?: JsonObject
  readonly bodyRequired?: boolean
  readonly answers: Readonly<Record<string, { readonly schema?: JsonObject; readonly example?: JsonValue }>>
}

interface Description {
  readonly source: string
  readonly operations: readonly Operation[]
  readonly definitions: JsonObject
}

export interface FoundOperation {
  readonly operation: Operation
  /** Decoded. */
  readonly values: Readonly<Record<string, string>>
}

const FILE = new URL('../../src/fake-github/operations.json', import.meta.url)

export class GithubOperations {
  readonly all: readonly Operation[]
  readonly #forms: readonly RegExp[]
  readonly #bodies: Ajv
  readonly #queries: Ajv
  readonly #definitions: JsonObject

  constructor() {
    const { operations, definitions } = JSON.parse(readFileSync(FILE, 'utf8')) as Description // written by extract.ts
    this.all = operations
    this.#definitions = definitions
    this.#forms = operations.map(({ path }) => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, toGroup)}$`))
    const common = { strict: false, validateFormats: false } as const
    this.#bodies = new Ajv(common)
    this.#queries = new Ajv({ ...common, coerceTypes: true })
  }

  find(method: string, path: string): FoundOperation | undefined {
    for (const [index, operation] of this.all.entries()) {
      const match = operation.method === method ? this.#forms[index]?.exec(path) : null
      if (!match) continue
      const values = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
      return { operation, values: Object.fromEntries(values) }
    }
    return undefined
  }

  /** Returns what is wrong with a request, or `undefined`. Undescribed fields are wrong too. */
  findIssue(
    { operation, values }: FoundOperation,
    query: URLSearchParams,
    body: JsonValue | undefined,
  ): string | undefined {
    const given: Readonly<Record<string, string>> = { ...values, ...Object.fromEntries(query) }
    const known = operation.parameters.filter((one) => one.in !== 'header')
    const unknown = Object.keys(given).find((name) => !known.some((one) => one.name === name))
    if (unknown !== undefined) return `there is no parameter ${unknown}`
    for (const { name, required, schema } of known) {
      const value = given[name]
      if (value === undefined && required) return `the parameter ${name} is missing`
      if (value === undefined) continue
      const validate = this.#queries.compile({ properties: { value: schema } })
      if (!validate({ value })) return `the parameter ${name}: ${this.#queries.errorsText(validate.errors)}`
    }
    if (body === undefined) return operation.bodyRequired ? 'the body is missing' : undefined
    if (!operation.body) return 'it accepts no body'
    const fields = operation.body['properties']
    const extra =
      isJsonObject(body) && isJsonObject(fields) ? Object.keys(body).find((name) => !(name in fields)) : undefined
    return extra === undefined ? this.#findWrong(operation.body, body) : `there is no field ${extra}`
  }

  /** Returns what is wrong with one of our answers. */
  findWrongAnswer({ operation }: FoundOperation, status: number, answer: JsonValue): string | undefined {
    const described = operation.answers[status]
    if (!described) return `it never answers ${status}`
    return described.schema && this.#findWrong(described.schema, answer)
  }

  #findWrong(schema: JsonObject, value: JsonValue): string | undefined {
    const validate = this.#bodies.compile({ ...schema, definitions: this.#definitions })
    return validate(value) ? undefined : this.#bodies.errorsText(validate.errors).slice(0, 500)
  }
}

/** Paths and refs may contain slashes. */
function toGroup(_: string, name: string): string {
  return name === 'path' || name === 'ref' ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`
}

export interface Reply {
  readonly status: number
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
}

/** One parsed request. */
export interface Asked {
  readonly route: string
  readonly values: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, JsonValue>>
  readonly login: string
  readonly repository: Repository | undefined
  readonly repositories: readonly Repository[]
  readonly origin: string
  /** The example of a successful answer. */
  readonly example: (status?: number) => JsonValue
}

/** A string field of the body; empty if absent. */
export function textIn({ body }: Asked, name: string): string {
  const value = body[name]
  return typeof value === 'string' ? value : ''
}

export const DOCUMENTED = 'https://docs.github.com/rest'

export function refuse(status: number, message: string, errors?: readonly JsonValue[]): Reply {
  const body = { message, ...(errors && { errors }), documentation_url: DOCUMENTED, status: String(status) }
  return { status, body }
}
