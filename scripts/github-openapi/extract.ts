// Extracts the operations that @baton/kits/github uses from GitHub's API description, with schemas and examples, for
// the local GitHub of the tests: `npm ci --prefix scripts/github-openapi --ignore-scripts`, then `node
// scripts/github-openapi/extract.ts`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { USED_OPERATIONS } from './used-operations.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }
type Node = { readonly [name: string]: Json }

const PACKAGE = join(import.meta.dirname, 'node_modules/@octokit/openapi')
const SOURCE = join(PACKAGE, 'generated/api.github.com.json')
export const OPERATIONS_FILE = join(import.meta.dirname, '../../packages/testing/src/fake-github/operations.json')

/** Returns undefined if the description is not installed. */
export function extractOperations(): string | undefined {
  if (!existsSync(SOURCE)) return undefined
  const { version } = readNode(join(PACKAGE, 'package.json'))
  const document = readNode(SOURCE)
  const extraction = new Extraction(document)
  const operations = USED_OPERATIONS.map((route) => extraction.operation(route))
  const found = {
    source: `@octokit/openapi ${typeof version === 'string' ? version : ''}, api.github.com`,
    licence: 'MIT, Copyright (c) 2018 Octokit contributors',
    operations,
    definitions: extraction.definitions(),
  }
  return `${JSON.stringify(found)}\n`
}

class Extraction {
  readonly #document: Node
  readonly #definitions = new Map<string, Json>()

  constructor(document: Node) {
    this.#document = document
  }

  operation(route: string): Json {
    const [method = '', path = ''] = route.split(' ')
    const item = this.#at(['paths', path])
    const operation = item[method.toLowerCase()]
    if (!isNode(operation)) throw new Error(`there is no operation ${route}`)
    const parameters = [...list(item['parameters']), ...list(operation['parameters'])].map((one) => this.#resolve(one))
    const body = isNode(operation['requestBody']) ? this.#resolve(operation['requestBody']) : undefined
    return {
      method,
      path,
      parameters: parameters.map(({ name = '', in: place = '', required = false, schema = {} }) => ({
        name,
        in: place,
        required,
        schema: this.#schema(schema),
      })),
      ...(body && { body: this.#schema(json(body)['schema'] ?? {}), bodyRequired: body['required'] ?? false }),
      answers: this.#answers(operation),
    }
  }

  definitions(): Json {
    return Object.fromEntries([...this.#definitions].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** Only successful responses, each with its first example. */
  #answers(operation: Node): Json {
    const answers = Object.entries(operation['responses'] as Node).filter(([status]) => status.startsWith('2'))
    return Object.fromEntries(
      answers.map(([status, answer]) => {
        const media = json(this.#resolve(answer))
        const [example] = Object.values(isNode(media['examples']) ? media['examples'] : {})
        return [
          status,
          {
            ...(media['schema'] !== undefined && { schema: this.#schema(media['schema']) }),
            ...(example !== undefined && { example: this.#resolve(example)['value'] ?? null }),
          },
        ]
      }),
    )
  }

  /** A schema without descriptions; references become definitions. */
  #schema(schema: Json): Json {
    if (Array.isArray(schema)) return schema.map((one) => this.#schema(one))
    if (!isNode(schema)) return schema
    const reference = schema['$ref']
    if (typeof reference === 'string') {
      const name = reference.split('/').at(-1) ?? ''
      if (!this.#definitions.has(name)) {
        this.#definitions.set(name, null) // a schema may refer to itself
        this.#definitions.set(name, this.#schema(this.#resolve(schema)))
      }
      return { $ref: `#/definitions/${name}` }
    }
    const kept = Object.entries(schema).filter(([name]) => !WORDS.has(name) && !name.startsWith('x-'))
    const plain = kept.map(([name, value]) => [
      name,
      name === 'properties' && isNode(value)
        ? Object.fromEntries(Object.entries(value).map(([field, one]) => [field, this.#schema(one)]))
        : name === 'enum' || name === 'required' || name === 'default'
          ? value
          : this.#schema(value),
    ])
    return nullable(Object.fromEntries(plain))
  }

  #resolve(node: Json): Node {
    const reference = isNode(node) ? node['$ref'] : undefined
    if (typeof reference === 'string') return this.#resolve(this.#at(reference.slice(2).split('/')))
    if (!isNode(node)) throw new Error('the reference does not point to an object')
    return node
  }

  #at(path: readonly string[]): Node {
    let node: Json | undefined = this.#document
    for (const name of path) node = isNode(node) ? node[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
    if (!isNode(node)) throw new Error(`there is nothing at ${path.join('/')}`)
    return node
  }
}

const WORDS: ReadonlySet<string> = new Set([
  'description',
  'discriminator',
  'example',
  'examples',
  'externalDocs',
  'title',
  'deprecated',
])

/** OpenAPI 3.0 uses `nullable` where JSON Schema adds a type. */
function nullable({ nullable: isNullable, ...schema }: Record<string, Json>): Json {
  return isNullable === true ? { anyOf: [schema, { type: 'null' }] } : schema
}

function json(body: Node): Node {
  const content = isNode(body['content']) ? body['content'] : {}
  const media = content['application/json']
  return isNode(media) ? media : {}
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readNode(file: string): Node {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (import.meta.main) {
  const text = extractOperations()
  if (text === undefined) throw new Error('install it first: npm ci --prefix scripts/github-openapi --ignore-scripts')
  writeFileSync(OPERATIONS_FILE, text)
  console.log(`${USED_OPERATIONS.length} operations, ${text.length} characters`)
}
