// Requests of the page in addition to those of `useChat`.

/** Returns undefined for a 404. @throws TypeError without a connection, Error with the server's message */
export async function askJson<Answer>(address: string): Promise<Answer | undefined> {
  const response = await fetch(address)
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as Answer // as the server documents it
}

/** @throws TypeError without a connection, Error with the server's message */
export async function sendJson(method: 'POST' | 'PATCH', address: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(address, { method, headers, body: JSON.stringify(body) })
  if (response.ok) return
  const { error } = (await response.json()) as { readonly error?: { readonly message?: string } } // as it documents
  throw new Error(error?.message ?? `the server answered ${response.status}`)
}
