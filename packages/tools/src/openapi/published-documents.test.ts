// Documents published in other packages: how many of their operations can be offered.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listOperations } from './from-openapi.ts'

const MODULES = join(import.meta.dirname, '../../../../node_modules')
const TEMPORAL = '@temporalio/core-bridge/sdk-core/crates/protos/protos/api_upstream/openapi/openapiv2.json'

test.each([
  ['Notion, OpenAPI 3.1', '@notionhq/notion-mcp-server/scripts/notion-openapi.json', [24, 24]],
  // The other 20 reference schemas that the document lacks.
  ['Temporal, Swagger 2.0', TEMPORAL, [208, 228]],
])('%s', (name, file, expected) => {
  const operations = listOperations(JSON.parse(readFileSync(join(MODULES, file), 'utf8')))
  const problems = operations.flatMap(({ problem }) => problem ?? [])
  console.info(`${name}: ${operations.length - problems.length} of ${operations.length} operations are offered`)
  expect([operations.length - problems.length, operations.length]).toEqual(expected)
  for (const problem of problems) expect(problem).toMatch(/"#\/components\/schemas\/.*" does not exist/)
})
