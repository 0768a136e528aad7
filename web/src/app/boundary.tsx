// SPDX-License-Identifier: Apache-2.0
// A page that throws shows what and where; the shell and the other pages go on.
import { Component, type ReactNode } from 'react'
import { Failure } from '../ui/states'
import { useText } from '../i18n'

export class PageBoundary extends Component<{ children: ReactNode; place?: string }, { error: unknown }> {
  override state = { error: undefined as unknown }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override componentDidUpdate(before: { place?: string }): void {
    if (before.place !== this.props.place && this.state.error !== undefined) this.setState({ error: undefined })
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    return <Broken error={this.state.error} retry={() => this.setState({ error: undefined })} />
  }
}

function Broken({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useText()
  return (
    <section className="panel">
      <Failure what={t('error.page')} error={error} retry={retry} />
    </section>
  )
}
