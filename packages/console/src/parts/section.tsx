import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A section of a page with a heading. */
export function Section({
  title,
  first = false,
  id,
  children,
}: {
  title: string;
  /** True if there is no margin above the heading. */
  first?: boolean;
  /** The anchor that links refer to. */
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
