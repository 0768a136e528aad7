// SPDX-License-Identifier: Apache-2.0
/** Hands a data: or blob: address to the person as a file. */
export function download(name: string, href: string | undefined): void {
  if (!href) return
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
}
