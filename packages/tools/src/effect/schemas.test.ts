// Effect schemas beyond structs of plain fields, as inputs of tools: classes, references, recursion, requests.
import { Toolkit } from '@effect/ai'
import * as effect3 from 'effect'
import * as effect4 from 'effect4'
import { expect, test } from 'vitest'
import { playCalls } from '../shared/played-calls.test-kit.ts'
import { effectTool, fromEffect } from './index.ts'

const S3 = effect3.Schema
const S4 = effect4.Schema

class Place3 extends S3.Class<Place3>('Place')({
  city: S3.String,
  days: S3.optionalWith(S3.Int, { default: () => 1 }),
}) {}
class Place4 extends S4.Class<Place4>('Place')({
  city: S4.String,
  days: S4.Int.pipe(S4.withDecodingDefault(effect4.Effect.succeed(1))),
}) {}

interface Node {
  readonly name: string
  readonly children: readonly Node[]
}
const Node3 = S3.Struct({
  name: S3.String,
  children: S3.Array(S3.suspend((): effect3.Schema.Schema<Node> => Node3)),
}).annotations({
  identifier: 'Node',
})
const Node4 = S4.Struct({
  name: S4.String,
  children: S4.Array(S4.suspend((): effect4.Schema.Codec<Node> => Node4)),
}).annotate({ identifier: 'Node' })

const plain = { description: 'Of a test', effect: 'pure' } as const
const names = (node: Node): string => [node.name, ...node.children.map(names)].join(' ')

const SETS = [
  [
    '3',
    () =>
      fromEffect(effect3, {
        tools: [
          effectTool({
            ...plain,
            name: 'go',
            input: Place3,
            execute: (place) => effect3.Effect.succeed([place instanceof Place3, place.days]),
          }),
          effectTool({ ...plain, name: 'tree', input: Node3, execute: (node) => effect3.Effect.succeed(names(node)) }),
        ],
      }),
  ],
  [
    '4',
    () =>
      fromEffect(effect4, {
        tools: [
          effectTool({
            ...plain,
            name: 'go',
            input: Place4,
            execute: (place) => effect4.Effect.succeed([place instanceof Place4, place.days]),
          }),
          effectTool({ ...plain, name: 'tree', input: Node4, execute: (node) => effect4.Effect.succeed(names(node)) }),
        ],
      }),
  ],
] as const

test.each(SETS)('Effect %s: a class is made of the input, and a schema may refer to itself', async (_version, open) => {
  const { tools, close } = open()
  const { calls, shown } = await playCalls(tools, [
    ['go', { city: 'Lisbon' }],
    ['go', { city: 'Lisbon', days: 1.5 }],
    ['tree', { name: 'a', children: [{ name: 'b', children: [] }] }],
    ['tree', { name: 'a', children: [{ name: 'b' }] }],
  ])
  expect(calls[0]).toBe('go ok: [true,1]')
  expect(calls[1]).toMatch(/^go error invalid_arguments: days/)
  expect(calls[2]).toBe('tree ok: a b')
  expect(calls[3]).toMatch(/^tree error invalid_arguments: children\.0\.children/)
  expect(shown['go']).toMatchObject({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
  expect(shown['tree']).toMatchObject({ type: 'object', $defs: {} })
  await close()
})

class GetUser extends S3.TaggedRequest<GetUser>()('GetUser', {
  success: S3.Struct({ name: S3.String }),
  failure: S3.String,
  payload: { id: S3.Int },
}) {}

test('a tagged request of Effect 3 is a tool of its toolkit', async () => {
  const kit = Toolkit.make(GetUser as never)
  const layer = kit.toLayer({
    GetUser: ({ id }: { readonly id: number }) =>
      id === 1 ? effect3.Effect.succeed({ name: 'Ann' }) : effect3.Effect.fail(`there is no user ${id}`),
  } as never)
  const { tools, close } = fromEffect(effect3, { toolkit: kit, layer: layer as never })
  const { calls } = await playCalls(tools, [
    ['GetUser', { _tag: 'GetUser', id: 1 }],
    ['GetUser', { _tag: 'GetUser', id: 2 }],
  ])
  expect(calls).toEqual(['GetUser ok: {"name":"Ann"}', 'GetUser error tool_failed: there is no user 2'])
  await close()
})
