// A chat for `useChat` in an app of Next.js: one route for all that the handler answers.
import { createHost, defineAgent } from '@baton/host'
import { createHandler } from '@baton/server/http'

const agent = defineAgent({
  name: 'shop',
  model: 'anthropic/claude-haiku-4-5',
  instructions: 'You answer for a shop that opens at nine.',
})

/** Kept for the whole process: during development Next.js loads this file again and again. */
const shared = globalThis as { batonHandler?: ReturnType<typeof createHandler> }

/** The first request makes the host: `next build` also loads this file, and has no key. */
function answer(request: Request): Promise<Response> {
  shared.batonHandler ??= createHandler(createHost({ agent }), { hosts: ['localhost', '127.0.0.1'] })
  return shared.batonHandler(request)
}

export { answer as DELETE, answer as GET, answer as PATCH, answer as POST }
