// Files that are text, for models that read no files of their kind.

/** The text of a file; undefined where its media type is of no text, or its bytes are no UTF-8. @param data base64 */
export function textOfFile(mediaType: string, data: string): string | undefined {
  if (!mediaType.startsWith('text/') && !/^application\/(.*\+)?(json|xml|yaml)$/.test(mediaType)) return undefined
  try {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
