// Calls each operation of the published documents that other packages include, with arguments generated from its
// schema.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createArgumentValidator } from '@baton/runtime'
import { generateSync } from 'json-schema-faker'
import { expect, test } from 'vitest'
import { fromOpenApi, listOperations } from '@baton/tools/openapi'

const MODULES = join(import.meta.dirname, '../../../../node_modules')
const TEMPORAL = '@temporalio/core-bridge/sdk-core/crates/protos/protos/api_upstream/openapi/openapiv2.json'
const DOCUMENTS = [
  { name: 'Notion, OpenAPI 3.1', file: '@notionhq/notion-mcp-server/scripts/notion-openapi.json', count: 24 },
  { name: 'Temporal, Swagger 2.0', file: TEMPORAL, count: 208 },
] as const

const readDocument = (file: string): unknown => JSON.parse(readFileSync(join(MODULES, file), 'utf8'))

test.each(DOCUMENTS)(
  '$name: each operation that is offered is called with arguments made from its schema',
  async ({ file, count }) => {
    const document = readDocument(file)
    const offered = listOperations(document).filter(({ problem }) => problem === undefined)
    const asked: string[] = []
    const tools = fromOpenApi(document, {
      operations: offered.map(({ operation }) => operation),
      server: 'https://api.example',
      fetch: (url, { method = 'GET' }) => {
        asked.push(`${method} ${new URL(url).pathname}`)
        return Promise.resolve(Response.json({}))
      },
    })
    const validator = createArgumentValidator()
    await validator.load()
    for (const { name, inputSchema, schemaWarnings = [], input, execute } of tools) {
      // Includes optional fields, if they do not nest endlessly.
      const made = [0, 0.5].map((optionalsProbability) =>
        generateSync(inputSchema as never, { seed: 1, optionalsProbability, maxItems: 1 } as never),
      ) as readonly JsonObject[]
      for (const given of made) {
        const checked = validator.validate({ input }, JSON.stringify(given))
        expect({ name, schemaWarnings, isOk: 'ok' in checked && checked.ok }).toEqual({
          name,
          schemaWarnings: [],
          isOk: true,
        })
        await execute?.(given, createToolContext())
      }
    }
    console.info(`${file}: ${tools.length} operations called, ${asked.length} requests`)
    expect([tools.length, asked.length]).toEqual([count, 2 * count])
  },
)
