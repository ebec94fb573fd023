// Checks every message of a connection against the SDK's JSON Schemas: requests, answers and notifications, by method.
import type { AnyMessage } from '@agentclientprotocol/sdk'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createRequire } from 'node:module'

interface MethodSchema {
  readonly 'x-method'?: string
  readonly 'x-side'?: string
}

export interface SchemaChecks {
  check(from: 'client' | 'agent', message: AnyMessage): void
  /** For a wire that does not name the sender: the answer must fit one of these methods. */
  checkAnswer(methods: readonly string[], result: unknown): void
  /** @throws Error that lists the violations */
  expectValid(): void
  /** Number of messages checked. */
  count(): number
}

export function createSchemaChecks(version: 1 | 2): SchemaChecks {
  // A file of the package, with the type of its schema.
  const schema = createRequire(import.meta.url)(`@agentclientprotocol/sdk/schema/v${version}/schema.json`) as {
    readonly $defs: Readonly<Record<string, MethodSchema>>
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
  ajv.addSchema(schema, 'acp')
  const names = new Map<string, string>()
  for (const [name, { 'x-method': method }] of Object.entries(schema.$defs))
    if (method !== undefined) names.set(`${method} ${/(Request|Response|Notification)$/.exec(name)?.[0]}`, name)
  const wrong: string[] = []
  const asked = new Map<string, string>()
  let count = 0
  const validate = (kind: string, value: unknown): void => {
    const name = names.get(kind)
    if (name === undefined) {
      if (!kind.startsWith('$/') && !kind.startsWith('_')) wrong.push(`no schema for ${kind}`)
      return
    }
    count += 1
    const check = ajv.getSchema(`acp#/$defs/${name}`)
    if (check && !check(value))
      wrong.push(`${kind}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(value).slice(0, 500)}`)
  }
  return {
    check: (from, message) => {
      if ('method' in message && 'id' in message) {
        asked.set(`${from} ${String(message.id)}`, message.method)
        validate(`${message.method} Request`, message.params)
      } else if ('method' in message) validate(`${message.method} Notification`, message.params)
      else if ('result' in message) {
        const peer = from === 'agent' ? 'client' : 'agent'
        const method = asked.get(`${peer} ${String(message.id)}`)
        if (method !== undefined) validate(`${method} Response`, message.result)
      }
    },
    checkAnswer: (methods, result) => {
      const found = methods.flatMap((method) => names.get(`${method} Response`) ?? [])
      count += 1
      const fits = found.some((name) => ajv.getSchema(`acp#/$defs/${name}`)?.(result) === true)
      if (found.length > 0 && !fits)
        wrong.push(`no answer to ${methods.join(', ')}: ${JSON.stringify(result).slice(0, 500)}`)
    },
    expectValid: () => {
      if (wrong.length > 0) throw new Error(wrong.slice(0, 10).join('\n'))
    },
    count: () => count,
  }
}
