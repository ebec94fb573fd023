// A page that was read, as plain data: the thread that reads pages and the thread that asks for them share it.

export interface OpenGraph {
  readonly title?: string
  readonly description?: string
  readonly image?: string
  readonly type?: string
  readonly siteName?: string
  readonly url?: string
}

export interface HtmlPage {
  readonly title?: string
  readonly author?: string
  readonly language?: string
  /** ISO 8601. */
  readonly publishedAt?: string
  readonly modifiedAt?: string
  /** The address that the page gives itself. */
  readonly canonical?: string
  readonly openGraph: OpenGraph
  /** Visible text, with headings, lists, links and tables in the manner of Markdown. */
  readonly text: string
  /** `article`: what Readability took for the main part. */
  readonly part: 'article' | 'whole-page'
  /** Text that styles hide from a reader, up to a bound. It is not part of `text`. */
  readonly hiddenText: string
  readonly hiddenCharacters: number
  /** Addresses of pictures in the text, 20 at most. */
  readonly images: readonly string[]
  /** True: the page has more elements or text than are read. */
  readonly isCut: boolean
}

export interface HtmlRequest {
  readonly html: string
  /** Its address: links are resolved against it. */
  readonly url: string
  readonly part: HtmlPage['part']
}

export type HtmlReply = { readonly ok: true; readonly page: HtmlPage } | { readonly ok: false; readonly why: string }
