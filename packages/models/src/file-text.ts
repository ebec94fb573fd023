// Reads text files for models that do not accept the file's type.

/**
 * Returns the text of a file; `undefined` if its media type is not textual or its bytes are not valid UTF-8. @param
 * data base64
 */
export function textOfFile(mediaType: string, data: string): string | undefined {
  if (!mediaType.startsWith('text/') && !/^application\/(.*\+)?(json|xml|yaml)$/.test(mediaType)) return undefined
  try {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
