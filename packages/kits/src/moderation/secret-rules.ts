// Finds keys and tokens in a text. Findings contain only their position, never their value.
import { findSecrets } from '@baton/tools/internal'
import type { Finding } from './finding.ts'

export async function findSecretTexts(text: string): Promise<readonly Finding[]> {
  const places = await findSecrets(text)
  return places.map(({ start, end }) => ({
    category: 'secrets',
    rule: 'secrets/key-or-token',
    start,
    end,
    weight: 'suspicious',
  }))
}
