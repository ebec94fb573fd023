// An answer that conforms to a schema.
import { createHost, defineAgent } from '@baton/host'
import { z } from 'zod'

const session = await createHost({
  agent: defineAgent({
    name: 'judge',
    model: 'anthropic/claude-haiku-4-5',
    output: z.object({ mood: z.enum(['happy', 'angry']) }),
  }),
}).session()
const { output } = await session.send('My order came late again.').answer
console.log(output?.mood)
