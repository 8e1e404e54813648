import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of a page under a heading of its own. */
export function Section({
  title,
  first = false,
  id,
  children,
}: {
  title: string;
  /** Nothing stands above it that it must be kept apart from. */
  first?: boolean;
  /** For links to it. */
  id?: string;
  children: ReactNode;
}): React.ReactElement {
  return (
    <section id={id} aria-label={title}>
      <Title order={2} size="h4" {...(!first && { mt: 'xl' })} mb="sm">
        {title}
      </Title>
      {children}
    </section>
  );
}
