// A chat for `useChat` in a Next.js app: one route for everything that the handler answers.
import { createHost, defineAgent } from '@baton/host'
import { createHandler } from '@baton/server/http'

const agent = defineAgent({
  name: 'shop',
  model: 'anthropic/claude-haiku-4-5',
  instructions: 'You answer for a shop that opens at nine.',
})

/** Kept for the whole process: Next.js reloads this file during development. */
const shared = globalThis as { batonHandler?: ReturnType<typeof createHandler> }

/** The first request creates the host: `next build` also loads this file, and has no key. */
function answer(request: Request): Promise<Response> {
  shared.batonHandler ??= createHandler(createHost({ agent }), { hosts: ['localhost', '127.0.0.1'] })
  return shared.batonHandler(request)
}

export { answer as DELETE, answer as GET, answer as PATCH, answer as POST }
