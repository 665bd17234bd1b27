! A variable of a module, in a clause: by its own name.
module work
  implicit none
  integer, parameter :: n = 60
  real(8) :: f(n, n), g(n), row(n)
contains
  subroutine sums()
    integer :: i, j
    do j = 1, n  ! loop: at -O0 needs private\(row\); never work::row\)
      do i = 1, n
        row(i) = f(i, j) * 2
      end do
      g(j) = row(1)
      do i = 2, n
        g(j) = g(j) + row(i) * row(n - i + 1)
      end do
    end do
  end subroutine
end module

program main
  use work
  integer :: i, j
  do j = 1, n
    do i = 1, n
      f(i, j) = i + j
    end do
  end do
  call sums()
  print *, g(5)
end program
